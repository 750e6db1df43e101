package io.holdfast.zookeeper.session;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.ZooKeeper.States;
import org.jspecify.annotations.Nullable;

/**
 * The ZooKeeper client of one session: ours, or one that is lent to us and that we neither close nor take for ours alone.
 *
 * <p>Thread-safe. What may take long (loading classes, waiting for a server's answer to a close) is done on threads of its own.
 */
final class SessionClient {

    private static final Logger LOG = System.getLogger(SessionClient.class.getName());

    private static final long CLOSE_POLL_NANOS = Duration.ofMillis(1).toNanos();

    private final Ensemble ensemble;
    private final StoreContext context;
    private final ConnectAttempts attempts;
    private final AtomicBoolean authenticated = new AtomicBoolean();

    private volatile @Nullable AsyncZooKeeper requests;

    /** @param connectFailed runs after each attempt to connect that failed; must not wait */
    SessionClient(Ensemble ensemble, StoreContext context, Runnable connectFailed) {
        this.ensemble = ensemble;
        this.context = context;
        this.attempts = new ConnectAttempts(context.time(), connectFailed);
    }

    /** Runs it on a thread of its own. ZooKeeper's client names its threads after the one that makes it. */
    void elsewhere(String role, Runnable task) {
        Thread thread = new Thread(task, "holdfast-" + context.clientName() + "-zookeeper" + role);
        thread.setDaemon(true);
        thread.start();
    }

    ZooKeeper open(Duration timeout, Watcher watcher, SessionBase base) throws IOException {
        ZooKeeper opened = ensemble.connector().connect(timeout, watcher, attempts);
        requests = new AsyncZooKeeper(opened, base, context.time());
        return opened;
    }

    boolean isOwn() {
        return ensemble.connector().isOwn();
    }

    /** Empty before it was made. */
    Optional<ZooKeeper> made() {
        return Optional.ofNullable(requests).map(AsyncZooKeeper::client);
    }

    /** To be called only once the session has been connected. */
    AsyncZooKeeper requests() {
        AsyncZooKeeper known = requests;
        if (known == null) {
            throw new IllegalStateException("not connected yet");
        }
        return known;
    }

    boolean isReachable() {
        return made().filter(known -> known.getState().isConnected()).isPresent();
    }

    boolean isReadOnly() {
        return made().filter(known -> known.getState() == States.CONNECTEDREADONLY)
                .isPresent();
    }

    /** On each new connection: says who we are, on the first, and since when the leader has known of this one. */
    void connected(ZooKeeper client, SessionBase base) {
        attempts.connectedNanos().ifPresent(base::connected);
        if (authenticated.compareAndSet(false, true)) {
            ensemble.connector().authenticate(client);
        }
    }

    /** Only of a client of ours are all watches ours. */
    void unwatch(String path, Watcher watcher) {
        if (isOwn()) {
            requests().unwatchAll(path);
        } else {
            requests().unwatch(path, watcher);
        }
    }

    /** Without waiting. The nodes of the session go with it. */
    void close() {
        made().filter(closing -> isOwn()).ifPresent(closing -> {
            try {
                elsewhere("-close", () -> close(closing));
            } catch (RuntimeException | Error e) {
                LOG.log(Level.WARNING, () -> "Cannot close a session of " + ensemble.name() + "; trying again", e);
                long soon = context.time().nanoTime() + ensemble.tick().toNanos() / 5;
                context.timer().at(soon, this::close);
            }
        });
    }

    private static void close(ZooKeeper closing) {
        try {
            closing.close();
        } catch (InterruptedException e) {
            LOG.log(Level.DEBUG, "Interrupted while closing a session", e);
        }
    }

    /**
     * Waits until the servers have heard of the end, or cannot be reached, but not for long. Not for the client's threads:
     * they sleep for a tenth of a second before they end.
     */
    void awaitClosed(Deadline deadline) {
        while (isOwn()
                && made().filter(closing -> closing.getState().isAlive()).isPresent()
                && !deadline.hasPassed()
                && !Thread.currentThread().isInterrupted()) {
            context.time().parkUntil(this, context.time().nanoTime() + CLOSE_POLL_NANOS);
        }
    }
}
