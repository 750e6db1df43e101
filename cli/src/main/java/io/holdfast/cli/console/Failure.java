package io.holdfast.cli.console;

/** Why the command ended without doing what it was asked, and the exit code that says so (as in sysexits.h). */
public enum Failure {
    /** Somebody else holds the lock; {@code -E} changes the code. */
    CONFLICT("conflict", 1),
    USAGE("usage", 64),
    STORE_UNREACHABLE("store-unreachable", 69),
    INTERNAL("internal", 70),
    LEASE_LOST("lease-lost", 75),
    NOT_RUNNABLE("not-runnable", 126),
    NOT_FOUND("not-found", 127);

    public final String word;
    public final int exitCode;

    Failure(String word, int exitCode) {
        this.word = word;
        this.exitCode = exitCode;
    }
}
