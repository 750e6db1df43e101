package io.holdfast;

/** The client was closed before or while the lock was asked for; nothing is held. */
public final class ClientClosedException extends LockException {

    private static final long serialVersionUID = 1L;

    public ClientClosedException(String lockName, String clientName) {
        super(
                lockName,
                "Holdfast client '" + clientName + "' is closed, so lock '" + lockName
                        + "' cannot be had through it. Connect again to go on.");
    }
}
