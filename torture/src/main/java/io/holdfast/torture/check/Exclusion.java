package io.holdfast.torture.check;

import io.holdfast.Demand;

/** Which demands cannot be met at once. */
final class Exclusion {

    private Exclusion() {}

    static boolean between(Demand one, Demand other) {
        if (one instanceof Demand.Permits a && other instanceof Demand.Permits b) {
            return a.count() + b.count() > Math.min(a.total(), b.total());
        }
        return !(one instanceof Demand.Shared && other instanceof Demand.Shared);
    }
}
