package io.holdfast.torture.check;

import io.holdfast.torture.check.RunHistory.LockHistory;
import io.holdfast.torture.history.Event;
import java.time.Duration;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Whether a lock that somebody waits for is granted to somebody, again and again, as long as there is no fault. Waiters whose
 * process was not heard of again do not count: nobody can serve the dead.
 */
final class ProgressCheck {

    private final RunHistory run;
    private final long withinNanos;
    private final Findings findings;

    ProgressCheck(RunHistory run, Duration within, Findings findings) {
        this.run = run;
        this.withinNanos = within.toNanos();
        this.findings = findings;
    }

    void check(LockHistory history, List<Faults.Calm> calms) {
        NavigableMap<Long, Event> served = new TreeMap<>();
        for (Attempt attempt : history.attempts()) {
            Event outcome = attempt.outcome();
            if (attempt.isGranted() && outcome != null) {
                served.put(outcome.nanos(), outcome);
            }
        }
        for (Faults.Calm calm : calms) {
            check(history, calm, served);
        }
    }

    private void check(LockHistory history, Faults.Calm calm, NavigableMap<Long, Event> served) {
        for (Attempt attempt : history.attempts()) {
            long from = Math.max(calm.fromNanos(), attempt.invoke().nanos());
            long to = Math.min(calm.toNanos(), waitEnd(attempt));
            if (to <= from) {
                continue;
            }
            findings.tested(Promise.PROGRESS, 1);
            if (stalls(from, to, served)) {
                findings.violated(
                        Promise.PROGRESS,
                        history.lock(),
                        attempt.invoke().process() + " waited, no fault was active, and nobody was served for "
                                + withinNanos / 1_000_000 + " ms",
                        List.of(attempt.invoke()));
                return; // the others that waited then would say the same
            }
        }
    }

    private boolean stalls(long from, long to, NavigableMap<Long, Event> served) {
        long last = from;
        while (to - last > withinNanos) {
            Long next = served.higherKey(last);
            if (next == null || next - last > withinNanos) {
                return true;
            }
            last = next;
        }
        return false;
    }

    private long waitEnd(Attempt attempt) {
        Event outcome = attempt.outcome();
        return outcome != null
                ? outcome.nanos()
                : run.lastSignOfLife(attempt.invoke().process());
    }
}
