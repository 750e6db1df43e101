package io.holdfast.spring.boot;

/** No lock store is configured, or the one that was found cannot be used. */
public final class NoLockStoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NoLockStoreException(String problem) {
        super(problem);
    }
}
