package io.holdfast.bench;

/** Why a run has no result. */
public final class BenchException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public BenchException(String message) {
        super(message);
    }
}
