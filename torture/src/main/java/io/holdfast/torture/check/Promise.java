package io.holdfast.torture.check;

/** What a history is held against. */
public enum Promise {
    /** There is a way in which the store can have kept excluding leases apart, in the order of their tokens. */
    EXCLUSION("at most one valid lease at a time"),
    /** No two clients believed at one moment to hold what only one can hold. */
    BELIEF("no two holders believe in their lease at once"),
    /** No store forgot a lease that was still valid. */
    KEPT("a lease lasts until its deadline"),
    /** Tokens are unique, and of excluding leases the later has the larger. */
    TOKENS("tokens are unique and increase in real time"),
    /** A resource that checks tokens contains every write it acknowledged. */
    FENCING("no acknowledged write is lost where tokens are checked"),
    /** Whoever stood in line was not overtaken. */
    ORDER("waiters are served in order of arrival"),
    /** Once all faults are over, somebody who waits is served in time. */
    PROGRESS("locks are served again after faults end"),
    /** Whoever lost a lease was told. */
    TOLD("a holder that loses its lease is told"),
    /** Nothing stays in the store. */
    CLEAN("nothing is left in the store");

    private final String sentence;

    Promise(String sentence) {
        this.sentence = sentence;
    }

    /** The promise for people. */
    public String sentence() {
        return sentence;
    }
}
