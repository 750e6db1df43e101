package io.holdfast.zookeeper;

import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Validity;
import io.holdfast.spi.support.EarliestAlarm;
import io.holdfast.zookeeper.SessionOverException.Ending;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * One session at the servers.
 *
 * <pre>
 *   CONNECTING ──► CONNECTED ◄──► SUSPENDED
 *        │             │              │
 *        └─────────────┴──► ENDED ◄───┘
 * </pre>
 *
 * <p>SUSPENDED is a lost connection: the servers keep the session for the rest of its timeout, requests wait for another
 * connection. ENDED is final. An object is one session for its whole life: a node never finds itself in another one.
 * Thread-safe; nothing here waits on ZooKeeper's event thread or the client's timer.
 */
final class Session {

    private static final Logger LOG = System.getLogger(Session.class.getName());

    private static final long CLOSE_POLL_NANOS = Duration.ofMillis(1).toNanos();

    /** What it is opened for. */
    enum Purpose {
        /** Its timeout is their ttl: it must be as asked. */
        LEASES,
        /** Whatever timeout the servers give will do. */
        LOOKING
    }

    /** Those who live by a session. Called on ZooKeeper's event thread, or the client's timer: must not wait. */
    interface User {

        /** There is a connection, the first or another one. */
        void connected();

        /** The session has ended, and whatever nodes it had are gone. */
        void ended(String detail);

        /** Comes again and again as long as the session lives. */
        void tend(long nowNanos);

        /** Whether nobody needs the session to be kept alive by more than the usual pings. */
        boolean isIdle();
    }

    private enum State {
        CONNECTING,
        CONNECTED,
        SUSPENDED,
        ENDED
    }

    private final Purpose purpose;
    private final Settings settings;
    private final StoreContext context;
    private final Duration ttl;
    private final User user;
    private final ConnectAttempts attempts;
    private final Touches touches;
    private final WatchHub hub = new WatchHub(this::heard);
    private final EarliestAlarm nextPulse;
    private final AtomicBoolean authenticated = new AtomicBoolean();

    private volatile @Nullable ZooKeeper client;
    private volatile @Nullable Wire wire;
    private volatile boolean listening;

    // Guarded by this.
    private State state = State.CONNECTING;
    private CompletableFuture<Void> stateChange = new CompletableFuture<>();
    private long suspendedNanos;
    private @Nullable Ending ending;
    private String endingDetail = "";

    Session(Settings settings, StoreContext context, Duration ttl, Purpose purpose, User user) {
        this.purpose = purpose;
        this.settings = settings;
        this.context = context;
        this.ttl = ttl;
        this.user = user;
        this.attempts = new ConnectAttempts(context.time());
        this.touches = new Touches(settings.tick());
        this.nextPulse = new EarliestAlarm(context.timer(), this::pulse);
    }

    /** Begins to connect, on a thread of its own: loading classes and the like must not cost a caller its deadline. */
    void start() {
        // ZooKeeper's client names its threads after the one that makes it.
        Thread starter = new Thread(this::connect, "holdfast-" + context.clientName() + "-zookeeper");
        starter.setDaemon(true);
        try {
            starter.start();
        } catch (RuntimeException | Error e) {
            notOpened(e);
        }
    }

    Settings settings() {
        return settings;
    }

    /** Its timeout, the ttl of all that lives by it. */
    Duration ttl() {
        return ttl;
    }

    /**
     * What an extension may ask for: the ttl that a lease is asked for with if it is to be valid for this ttl. Who extends a
     * lease by its own ttl gets what a fresh one has, a margin less; beyond that there is nothing to give.
     */
    Duration longestAsked() {
        return new Validity(context.time(), settings.tick()).ttlFor(ttl);
    }

    WatchHub hub() {
        return hub;
    }

    /** The servers' number of this session. To be asked only once the session has been ready. */
    long id() {
        ZooKeeper known = client;
        if (known == null) {
            throw new IllegalStateException("not connected yet");
        }
        return known.getSessionId();
    }

    /** To be called only once the session has been ready. */
    Wire wire() {
        Wire known = wire;
        if (known == null) {
            throw new IllegalStateException("not connected yet");
        }
        return known;
    }

    /** The servers keep the session at least its timeout from then on. */
    long baseNanos() {
        return touches.baseNanos();
    }

    synchronized boolean isEnded() {
        return state == State.ENDED;
    }

    /** Whether it is worth sending something now. */
    boolean isConnected() {
        ZooKeeper known = client;
        return known != null && known.getState().isConnected();
    }

    private synchronized boolean isReady() {
        return state == State.CONNECTED;
    }

    /** Waits until there is a connection. */
    void awaitReady(String lock, Deadline deadline) throws SessionOverException {
        while (true) {
            CompletableFuture<Void> change;
            State now;
            synchronized (this) {
                requireAlive();
                if (state == State.CONNECTED) {
                    return;
                }
                now = state;
                change = stateChange;
            }
            try {
                Wire.await(change, deadline);
            } catch (KeeperException e) {
                throw new StoreUnavailableException(lock, whyNotReady(now));
            }
        }
    }

    synchronized void requireAlive() throws SessionOverException {
        if (ending != null) {
            throw new SessionOverException(ending, endingDetail);
        }
    }

    private String whyNotReady(State now) {
        ZooKeeper known = client;
        if (known != null && known.getState() == ZooKeeper.States.CONNECTEDREADONLY) {
            return "the server reached at " + settings.store() + " is read-only, it has lost its quorum";
        }
        return now == State.SUSPENDED
                ? "the connection to " + settings.store() + " is lost and not back in time"
                : "no server of " + settings.store() + " answered in time";
    }

    /** A write: once it is answered, a quorum had the session alive after it was sent. */
    <T> CompletableFuture<T> write(Function<Wire, CompletableFuture<T>> request) {
        long sentNanos = context.time().nanoTime();
        return request.apply(wire()).thenApply(answer -> {
            touches.committed(sentNanos);
            return answer;
        });
    }

    /** A write that changes nothing. That its node does not exist is found by the leader, and agreed on by a quorum. */
    CompletableFuture<Void> prove() {
        return write(wire -> Wire.unlessMissing(wire.write(settings.beacon()).thenApply(nothing -> true), false))
                .thenAccept(existed -> {});
    }

    /** Whether there was such a node. */
    CompletableFuture<Boolean> delete(String path) {
        return write(wire -> Wire.unlessMissing(wire.delete(path).thenApply(nothing -> true), false));
    }

    CompletableFuture<Wire.Created> create(String path, byte[] data, CreateMode mode) {
        return write(wire -> wire.create(path, data, settings.acl(), mode));
    }

    /** Whatever a request failed with; an expired session is noticed here too, should its event be late. */
    void failed(Throwable failure) {
        if (Wire.code(failure) == Code.SESSIONEXPIRED) {
            end(Ending.EXPIRED, "the session expired at the servers");
        }
    }

    /** Gives up waiting for the servers to end it: nothing that lives by it counts any more. */
    void end(Ending newEnding, String detail) {
        synchronized (this) {
            if (ending != null) {
                return;
            }
            ending = settings.connector().isOwn() || newEnding != Ending.EXPIRED ? newEnding : Ending.FOR_GOOD;
            endingDetail = detail;
            enter(State.ENDED);
        }
        if (newEnding == Ending.EXPIRED || newEnding == Ending.NOT_AUTHENTICATED) {
            LOG.log(Level.WARNING, () -> "ZooKeeper session of " + settings.store() + " ended: " + detail);
        }
        user.ended(detail);
        closeClient();
    }

    /**
     * Waits until the servers have heard of the end, or cannot be reached, but not for long. Not for the client's threads:
     * they sleep for a tenth of a second before they end.
     */
    void awaitClosed(Deadline deadline) {
        ZooKeeper closing = client;
        while (closing != null
                && settings.connector().isOwn()
                && closing.getState().isAlive()
                && !deadline.hasPassed()
                && !Thread.currentThread().isInterrupted()) {
            context.time().parkUntil(this, context.time().nanoTime() + CLOSE_POLL_NANOS);
        }
    }

    private void connect() {
        try {
            ZooKeeper opened = settings.connector().connect(ttl, hub, attempts);
            wire = new Wire(opened);
            client = opened;
            if (isEnded()) {
                closeClient();
                return;
            }
            if (!opened.getState().isAlive()) {
                end(Ending.FOR_GOOD, "the ZooKeeper client is closed, or its session has ended");
                return;
            }
            if (settings.connector().isOwn() && opened.getState().isConnected()) {
                // Connected before the line above: the event found no client and was passed over.
                heard(KeeperState.SyncConnected);
            }
            pulse();
        } catch (IOException | RuntimeException | Error e) {
            notOpened(e);
        }
    }

    private void notOpened(Throwable cause) {
        LOG.log(Level.WARNING, () -> "Cannot make a ZooKeeper client for " + settings.store(), cause);
        end(Ending.NOT_OPENED, "no ZooKeeper client could be made: " + cause);
    }

    /** On ZooKeeper's event thread, in order with the answers to requests. */
    private void heard(KeeperState news) {
        switch (news) {
            case SyncConnected -> connected();
            case Disconnected -> disconnected();
            case Expired -> end(Ending.EXPIRED, "the session expired at the servers");
            case AuthFailed -> end(Ending.NOT_AUTHENTICATED, settings.store() + " did not accept our credentials");
            case Closed -> end(Ending.FOR_GOOD, "the ZooKeeper client was closed");
            default -> LOG.log(Level.DEBUG, () -> "ZooKeeper session of " + settings.store() + ": " + news);
        }
    }

    private void connected() {
        ZooKeeper connectedClient = client;
        if (connectedClient == null) {
            return;
        }
        attempts.connectedNanos().ifPresent(touches::connected);
        if (authenticated.compareAndSet(false, true)) {
            settings.connector().authenticate(connectedClient);
        }
        int given = connectedClient.getSessionTimeout();
        if (purpose == Purpose.LEASES && given != ttl.toMillis()) {
            end(
                    Ending.OTHER_TIMEOUT,
                    "its ttl is the ZooKeeper session timeout, and for " + ttl.toMillis() + " ms asked "
                            + settings.store() + " gives " + given + " ms. Use a ttl of "
                            + given + " ms, or change minSessionTimeout and maxSessionTimeout at the servers");
            return;
        }
        if (settings.connector().isOwn() || touches.isKnown()) {
            ready();
        }
    }

    private void ready() {
        synchronized (this) {
            if (state == State.CONNECTED || state == State.ENDED) {
                return;
            }
            enter(State.CONNECTED);
        }
        user.connected();
    }

    private void disconnected() {
        touches.disconnected();
        synchronized (this) {
            if (state == State.CONNECTED) {
                suspendedNanos = context.time().nanoTime();
                enter(State.SUSPENDED);
            }
        }
    }

    // Called with the monitor held. Those who wait are woken outside of it, so they do not run into it.
    private void enter(State next) {
        state = next;
        CompletableFuture<Void> change = stateChange;
        stateChange = new CompletableFuture<>();
        change.complete(null);
    }

    /** Somebody uses the session now: it pulses as often as leases need. */
    void pulseSoon() {
        nextPulse.at(context.time().nanoTime() + pulseNanos());
    }

    /** On the client's timer: touches the session, lets its users tend what is theirs, and comes again. See {@link Touches}. */
    private void pulse() {
        if (isEnded()) {
            return;
        }
        long now = context.time().nanoTime();
        try {
            boolean own = settings.connector().isOwn();
            if (isConnected() && (isReady() || !own)) {
                touch(now);
            } else if (own && isOverdue(now)) {
                // It has expired by all likelihood, but if no server lets this client in (say, because they have lost
                // their data and wait for one that is not ahead of them), nobody will ever say so.
                end(Ending.EXPIRED, "no server was reachable for as long as its timeout");
                return;
            }
            user.tend(now);
        } finally {
            long pause = isReady() && user.isIdle() ? Math.max(pulseNanos(), ttl.toNanos() / 6) : pulseNanos();
            nextPulse.at(now + pause);
        }
    }

    private long pulseNanos() {
        return settings.tick().toNanos() / 5;
    }

    private synchronized boolean isOverdue(long now) {
        return state == State.SUSPENDED
                && !isConnected()
                && now - suspendedNanos > ttl.plus(settings.tick()).toNanos();
    }

    private void touch(long now) {
        // State events reach every watcher, and this watch never fires for anything else. A client of ours has the hub
        // anyway.
        boolean heard = listening || settings.connector().isOwn();
        wire().exists(settings.beacon(), heard ? null : hub).whenComplete((nothing, failure) -> {
            if (failure == null || Wire.code(failure) == Code.NONODE) {
                listening = true;
                touches.pulsed(now, context.time().nanoTime());
            } else {
                failed(failure);
            }
        });
        if (!touches.isKnown() && !settings.connector().isOwn()) {
            // A client that was connected before we knew it: nothing counts until a write has proven some pulse.
            prove().whenComplete((nothing, failure) -> {
                if (failure == null && touches.isKnown()) {
                    connected();
                }
            });
        }
    }

    /** Closing waits for a server to answer, so on a thread of its own. The nodes of the session go with it. */
    private void closeClient() {
        ZooKeeper closing = client;
        if (closing == null || !settings.connector().isOwn()) {
            return;
        }
        Thread thread = new Thread(
                () -> {
                    try {
                        closing.close();
                    } catch (InterruptedException e) {
                        LOG.log(Level.DEBUG, "Interrupted while closing a session", e);
                    }
                },
                "holdfast-" + context.clientName() + "-zookeeper-close");
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, () -> "Cannot close a session of " + settings.store() + "; trying again", e);
            context.timer().at(context.time().nanoTime() + pulseNanos(), this::closeClient);
        }
    }
}
