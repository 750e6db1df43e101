package io.holdfast.zookeeper.session;

import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;

/** A session has ended, and with it every node it had: a request goes on in a new one, unless that would end alike. */
public final class SessionOverException extends Exception {

    private static final long serialVersionUID = 1L;

    public enum Ending {
        /** The server ended it, or it was given up: a new one may do better. */
        EXPIRED,
        /** The server keeps sessions for another time than was asked. */
        OTHER_TIMEOUT,
        /** The server does not accept our credentials. */
        NOT_AUTHENTICATED,
        /** There was no way to make a client for it: not now, but the next request may have one. */
        NOT_OPENED,
        /** It is not ours to build another: the store was closed, or the client belongs to the user. */
        FOR_GOOD
    }

    private final Ending ending;

    SessionOverException(Ending ending, String detail) {
        super(detail);
        this.ending = ending;
    }

    public boolean mayTryAnother() {
        return ending == Ending.EXPIRED;
    }

    public LockException about(String lock) {
        return ending == Ending.OTHER_TIMEOUT
                ? new UnsupportedLockException(lock, getMessage())
                : new StoreUnavailableException(lock, getMessage(), this);
    }
}
