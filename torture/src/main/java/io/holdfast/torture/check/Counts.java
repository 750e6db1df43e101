package io.holdfast.torture.check;

/**
 * How much a history contains.
 *
 * @param operations operations invoked
 * @param grants leases obtained
 * @param faults faults injected
 * @param checked what became of writes that were acknowledged by the resource that checks tokens
 * @param unchecked the same of the one that does not
 */
public record Counts(long operations, long grants, long faults, Writes checked, Writes unchecked) {

    /**
     * Writes to one kind of resource.
     *
     * @param acknowledged how many were
     * @param lost how many of these are not in the final content
     * @param refused how many were refused because of their token
     */
    public record Writes(long acknowledged, long lost, long refused) {

        public static final Writes NONE = new Writes(0, 0, 0);

        /** The share of acknowledged writes that was lost, 0 to 1. */
        public double lostShare() {
            return acknowledged == 0 ? 0 : (double) lost / acknowledged;
        }
    }
}
