package io.holdfast.zookeeper.session;

import io.holdfast.spi.Deadline;
import io.holdfast.zookeeper.session.SessionOverException.Ending;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/**
 * How far a session has come.
 *
 * <pre>
 *   CONNECTING ──► CONNECTED ◄──► SUSPENDED
 *        │             │              │
 *        └─────────────┴──► ENDED ◄───┘
 * </pre>
 *
 * <p>SUSPENDED is a lost connection: the servers keep the session for the rest of its timeout. If no server lets it in for 4/3 of
 * that, ZooKeeper's client says that it has expired. ENDED is final. Thread-safe.
 */
final class SessionState {

    enum State {
        CONNECTING,
        CONNECTED,
        SUSPENDED,
        ENDED
    }

    // Guarded by this.
    private State state = State.CONNECTING;
    private CompletableFuture<Void> change = new CompletableFuture<>();
    private @Nullable Ending ending;
    private String endingDetail = "";

    synchronized State now() {
        return state;
    }

    /** False if it was connected already, or has ended. */
    synchronized boolean connect() {
        if (state == State.CONNECTED || state == State.ENDED) {
            return false;
        }
        enter(State.CONNECTED);
        return true;
    }

    synchronized void suspend() {
        if (state == State.CONNECTED) {
            enter(State.SUSPENDED);
        }
    }

    /** False if it had ended before. */
    synchronized boolean end(Ending newEnding, String detail) {
        if (ending != null) {
            return false;
        }
        ending = newEnding;
        endingDetail = detail;
        enter(State.ENDED);
        return true;
    }

    synchronized void requireAlive() throws SessionOverException {
        if (ending != null) {
            throw new SessionOverException(ending, endingDetail);
        }
    }

    /** False if it is not connected by the deadline. */
    boolean awaitConnected(Deadline deadline) throws SessionOverException {
        while (true) {
            CompletableFuture<Void> next;
            synchronized (this) {
                requireAlive();
                if (state == State.CONNECTED) {
                    return true;
                }
                next = change;
            }
            try {
                Answers.await(next, deadline);
            } catch (KeeperException e) {
                return false;
            }
        }
    }

    // Called with the monitor held. Nothing but waiting threads hangs on the future, so nobody runs into the monitor.
    private void enter(State next) {
        state = next;
        CompletableFuture<Void> changed = change;
        change = new CompletableFuture<>();
        changed.complete(null);
    }
}
