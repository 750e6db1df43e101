package io.holdfast;

/** Does work with a lease and releases it: behind the {@code run} and {@code call} methods of {@link Acquirable}. */
final class WorkUnderLock {

    private WorkUnderLock() {}

    /** The work's own exception wins; else {@link LeaseLostException} if the lease was lost meanwhile. */
    static <H extends Hold, T, X extends Exception> T call(H hold, LeaseCall<? super H, T, X> work) throws X {
        T result;
        // A try-with-resources: what close() throws is suppressed by what the work throws.
        try (Hold held = hold) {
            result = work.call(hold);
            // Not a question of validity: the work may have released it itself.
            if (held.release() == ReleaseResult.ALREADY_LOST) {
                held.requireValid();
            }
        }
        return result;
    }

    static <H extends Hold, X extends Exception> void run(H hold, LeaseWork<? super H, X> work) throws X {
        call(hold, lease -> {
            work.run(lease);
            return true;
        });
    }
}
