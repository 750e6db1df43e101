package io.holdfast.zookeeper.session;

import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Validity;
import io.holdfast.spi.support.EarliestAlarm;
import io.holdfast.zookeeper.session.SessionOverException.Ending;
import io.holdfast.zookeeper.session.SessionState.State;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;

/**
 * One session at the servers, connected or not; see {@link SessionState}.
 *
 * <p>An object is one session for its whole life: a node never finds itself in another one. Thread-safe; nothing here waits on
 * ZooKeeper's event thread or the client's timer.
 */
public final class Session {

    private static final Logger LOG = System.getLogger(Session.class.getName());

    /** What it is opened for. */
    public enum Purpose {
        /** Its timeout is their ttl: it must be as asked. */
        LEASES,
        /** Whatever timeout the servers give will do. */
        LOOKING
    }

    /** Those who live by a session. Called on ZooKeeper's event thread or the client's timer: must not wait. */
    public interface User {

        /** There is a connection, the first or another one. */
        void connected();

        /** The connection was lost, and with it the events of what happens until there is another. */
        void disconnected();

        /** The session has ended, and whatever nodes it had are gone. */
        void ended(String detail);

        /** Comes every fifth of a tick while there is something to tend. */
        void tend(long nowNanos);

        /** Whether there is nothing to tend and no lease to keep. */
        boolean isIdle();
    }

    private final Ensemble ensemble;
    private final StoreContext context;
    private final Duration ttl;
    private final Purpose purpose;
    private final User user;
    private final SessionClient client;
    private final SessionBase base;
    private final SessionState state = new SessionState();
    private final WatchHub hub = new WatchHub(this::heard);
    private final EarliestAlarm nextRound;

    private volatile boolean listening;
    private volatile boolean watchesBelow = true;

    public Session(Ensemble ensemble, StoreContext context, Duration ttl, Purpose purpose, User user) {
        this.ensemble = ensemble;
        this.context = context;
        this.ttl = ttl;
        this.purpose = purpose;
        this.user = user;
        this.client = new SessionClient(ensemble, context, this::connectFailed);
        this.base = new SessionBase(ensemble.tick());
        this.nextRound = new EarliestAlarm(context.timer(), this::round);
    }

    /** Begins to connect, on a thread of its own: loading classes and the like must not cost a caller its deadline. */
    public void start() {
        try {
            client.elsewhere("", this::connect);
        } catch (RuntimeException | Error e) {
            endUnopened(e);
        }
    }

    public Ensemble ensemble() {
        return ensemble;
    }

    /** Its timeout, the ttl of all that lives by it. */
    public Duration ttl() {
        return ttl;
    }

    /**
     * What an extension may ask for: the ttl by which a lease is valid for this one. Who extends a lease by its own ttl gets
     * what a fresh one has, a margin less; beyond that there is nothing to give.
     */
    public Duration longestAsked() {
        return new Validity(context.time(), ensemble.tick()).ttlFor(ttl);
    }

    /** The servers keep the session at least its timeout from then on. */
    public long baseNanos() {
        return base.nanos();
    }

    public WatchHub hub() {
        return hub;
    }

    /** To be called only once the session has been connected. */
    public AsyncZooKeeper requests() {
        return client.requests();
    }

    /** The servers' number of this session. To be asked only once it has been connected. */
    public long id() {
        return requests().client().getSessionId();
    }

    /** Whether the servers watch all that is below a node. */
    public boolean watchesBelow() {
        return watchesBelow;
    }

    /** They do not: they are older than 3.6, or have the optimized watch manager. */
    public void refusesToWatchBelow(Code why) {
        watchesBelow = false;
        LOG.log(
                Level.WARNING,
                () -> ensemble.name() + " refuses recursive watches (" + why + "): waiting for locks will cost it"
                        + " more. They need ZooKeeper 3.6 or later without WatchManagerOptimized");
    }

    /** Ends a recursive watch, and any other on that path. */
    public void unwatchBelow(String path) {
        client.unwatch(path, hub);
    }

    /** Once this is answered, a quorum had the session alive after it was sent. */
    public CompletableFuture<Void> prove() {
        return requests().writeNothing(ensemble.emptyPath());
    }

    /** Whether it is worth sending something now. */
    public boolean isReachable() {
        return client.isReachable();
    }

    public boolean isEnded() {
        return state.now() == State.ENDED;
    }

    /** Whether it goes on at the servers though it has ended for us: its client is not ours to close. */
    public boolean goesOnWithoutUs() {
        return isEnded() && !client.isOwn();
    }

    public void requireAlive() throws SessionOverException {
        state.requireAlive();
    }

    /** Waits until there is a connection. */
    public void awaitConnected(String lock, Deadline deadline) throws SessionOverException {
        if (!state.awaitConnected(deadline)) {
            throw new StoreUnavailableException(lock, whyNotConnected());
        }
    }

    private String whyNotConnected() {
        if (client.isReadOnly()) {
            return "the server reached at " + ensemble.name() + " is read-only, it has lost its quorum";
        }
        return state.now() == State.SUSPENDED
                ? "the connection to " + ensemble.name() + " is lost and not back in time"
                : "no server of " + ensemble.name()
                        + " answered in time. Is ZooKeeper running there? Check hosts and ports";
    }

    /** Takes note of what a request failed with: should the event be late, an expired session is known by that. */
    public void noteFailure(Throwable failure) {
        if (Answers.code(failure) == Code.SESSIONEXPIRED) {
            end(Ending.EXPIRED, "the session expired at the servers");
        }
    }

    /** From now on nothing that lives by it counts any more, whatever the servers think. */
    public void end(Ending ending, String detail) {
        boolean another = client.isOwn() || ending != Ending.EXPIRED;
        if (!state.end(another ? ending : Ending.FOR_GOOD, detail)) {
            return;
        }
        if (ending == Ending.EXPIRED || ending == Ending.NOT_AUTHENTICATED) {
            LOG.log(Level.WARNING, () -> "ZooKeeper session of " + ensemble.name() + " ended: " + detail);
        }
        user.ended(detail);
        client.close();
    }

    /** Waits until the servers have heard of the end, or cannot be reached, but not for long. */
    public void awaitClosed(Deadline deadline) {
        client.awaitClosed(deadline);
    }

    private void connect() {
        try {
            ZooKeeper opened = client.open(ttl, hub, base);
            if (isEnded()) {
                client.close();
                return;
            }
            if (!opened.getState().isAlive()) {
                end(Ending.FOR_GOOD, "the ZooKeeper client is closed, or its session has ended");
                return;
            }
            if (client.isOwn() && opened.getState().isConnected()) {
                // Connected before the line above: the event found no client and was passed over.
                heard(KeeperState.SyncConnected);
            }
            round();
        } catch (IOException | RuntimeException | Error e) {
            endUnopened(e);
        }
    }

    private void endUnopened(Throwable cause) {
        LOG.log(Level.WARNING, () -> "Cannot make a ZooKeeper client for " + ensemble.name(), cause);
        end(Ending.NOT_OPENED, "no ZooKeeper client could be made: " + cause);
    }

    /** On ZooKeeper's event thread, in order with the answers to requests. */
    private void heard(KeeperState news) {
        switch (news) {
            case SyncConnected -> connected();
            case Disconnected -> {
                base.disconnected();
                listening = false;
                state.suspend();
                user.disconnected();
            }
            case Expired -> end(Ending.EXPIRED, "the session expired at the servers");
            case AuthFailed -> end(Ending.NOT_AUTHENTICATED, ensemble.name() + " did not accept our credentials");
            case Closed -> end(Ending.FOR_GOOD, "the ZooKeeper client was closed");
            default -> LOG.log(Level.DEBUG, () -> "ZooKeeper session of " + ensemble.name() + ": " + news);
        }
    }

    /** On a thread of ZooKeeper's client. */
    private void connectFailed() {
        if (state.now() == State.CONNECTING) {
            client.elsewhere("-refused", this::endIfRefused);
        }
    }

    /** Those who wait for the first connection need not wait for their deadlines to hear that there will be none. */
    private void endIfRefused() {
        ensemble.connector()
                .refusals()
                .filter(refused -> state.now() == State.CONNECTING)
                .ifPresent(refused -> end(
                        Ending.NOT_OPENED,
                        "cannot connect to " + refused + ". Is ZooKeeper running there? Check hosts and ports"));
    }

    private void connected() {
        client.made().ifPresent(this::connected);
    }

    private void connected(ZooKeeper opened) {
        client.connected(opened, base);
        int given = opened.getSessionTimeout();
        if (purpose == Purpose.LEASES && given != ttl.toMillis()) {
            end(
                    Ending.OTHER_TIMEOUT,
                    "its ttl is the ZooKeeper session timeout, and for " + ttl.toMillis() + " ms asked "
                            + ensemble.name() + " gives " + given + " ms. Use a ttl of "
                            + given + " ms, or change minSessionTimeout and maxSessionTimeout at the servers");
        } else if ((client.isOwn() || base.isKnown()) && state.connect()) {
            user.connected();
        }
    }

    /** Somebody begins to use the session. */
    public void wake() {
        nextRound.at(context.time().nanoTime() + pauseNanos());
    }

    /** On the client's timer: probes the session, lets its user tend what is theirs, and comes again. */
    private void round() {
        if (isEnded()) {
            return;
        }
        long now = context.time().nanoTime();
        try {
            if (isReachable() && (state.now() == State.CONNECTED || !client.isOwn())) {
                probe(now);
            }
            user.tend(now);
        } finally {
            boolean idle = state.now() == State.CONNECTED && user.isIdle();
            nextRound.at(now + (idle ? Math.max(pauseNanos(), ttl.toNanos() / 6) : pauseNanos()));
        }
    }

    private long pauseNanos() {
        return ensemble.tick().toNanos() / 5;
    }

    /** A cheap read, see {@link SessionBase}. */
    private void probe(long now) {
        // State events reach every watcher, and this watch never fires for anything else. A client of ours has the hub
        // anyway.
        boolean heard = listening || client.isOwn();
        requests().exists(ensemble.emptyPath(), heard ? null : hub).whenComplete((nothing, failure) -> {
            if (failure == null || Answers.code(failure) == Code.NONODE) {
                listening |= !heard;
                base.probed(now, context.time().nanoTime());
                if (state.now() == State.SUSPENDED) {
                    // Of a client not ours: with disableAutoWatchReset its new connection is told to nobody who
                    // watched.
                    connected();
                }
            } else {
                noteFailure(failure);
            }
        });
        if (!base.isKnown() && !client.isOwn()) {
            // A client that was connected before we knew it: nothing counts until a write has proven some probe.
            prove().whenComplete((nothing, failure) -> {
                if (failure == null && base.isKnown()) {
                    connected();
                }
            });
        }
    }
}
