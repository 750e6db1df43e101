package io.holdfast.torture.check;

import java.util.List;
import java.util.Map;

/**
 * What a history says about every promise.
 *
 * @param findings one per promise
 * @param counts how much was looked at
 */
public record Verdict(Map<Promise, Finding> findings, Counts counts) {

    public Finding of(Promise promise) {
        Finding finding = findings.get(promise);
        if (finding == null) {
            throw new IllegalArgumentException("no finding about " + promise);
        }
        return finding;
    }

    /** Whether no promise was broken. */
    public boolean holds() {
        return violated().isEmpty();
    }

    /** The broken promises. */
    public List<Promise> violated() {
        return findings.values().stream()
                .filter(finding -> finding.outcome() == Finding.Outcome.VIOLATED)
                .map(Finding::promise)
                .sorted()
                .toList();
    }
}
