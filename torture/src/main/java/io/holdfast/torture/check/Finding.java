package io.holdfast.torture.check;

import java.util.List;

/**
 * What a history says about one promise.
 *
 * @param promise which
 * @param outcome whether it held
 * @param tested on how many things it was tested: leases, pairs of them, writes, waits, locks
 * @param violations how often it was broken
 * @param examples the first of these
 */
public record Finding(Promise promise, Outcome outcome, long tested, long violations, List<Violation> examples) {

    /** Whether a promise held. */
    public enum Outcome {
        HELD,
        VIOLATED,
        /** What looks like a breach may be the fault of a machine that was too busy. */
        NOT_JUDGED,
        NOT_TESTED
    }
}
