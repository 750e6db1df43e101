package io.holdfast.zookeeper;

import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.zookeeper.SessionOverException.Ending;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * One session at the servers and all places in line that live by it.
 *
 * <pre>
 *   CONNECTING ──► CONNECTED ◄──► SUSPENDED
 *        │             │              │
 *        └─────────────┴──► ENDED ◄───┘
 * </pre>
 *
 * <p>SUSPENDED is a lost connection: the servers keep the session for the rest of its timeout, requests wait for another
 * connection. ENDED is final; every place is told. An object is one session for its whole life: a place never finds itself
 * in another one. Thread-safe; nothing here waits on ZooKeeper's event thread or the client's timer.
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
    private final ConnectAttempts attempts;
    private final Touches touches;
    private final WatchHub hub = new WatchHub(this::heard);
    private final ConcurrentHashMap<OwnerId, Place> places = new ConcurrentHashMap<>();
    /** Places whose node may still be there although nobody wants it, and since when. */
    private final ConcurrentHashMap<Place, Long> orphans = new ConcurrentHashMap<>();

    private final AtomicBoolean authenticated = new AtomicBoolean();
    private final Set<Runnable> uponReconnect = ConcurrentHashMap.newKeySet();
    private final long sweepNanos;

    private volatile @Nullable ZooKeeper client;
    private volatile @Nullable Wire wire;
    private final AtomicReference<@Nullable Pulse> nextPulse = new AtomicReference<>();
    private volatile long nextSweepNanos;
    private volatile boolean listening;
    private final AtomicInteger users = new AtomicInteger();

    // Guarded by this.
    private State state = State.CONNECTING;
    private CompletableFuture<Void> stateChange = new CompletableFuture<>();
    private long suspendedNanos;
    private @Nullable Ending ending;
    private String endingDetail = "";

    Session(Settings settings, StoreContext context, Duration ttl, Purpose purpose) {
        this.purpose = purpose;
        this.settings = settings;
        this.context = context;
        this.ttl = ttl;
        this.attempts = new ConnectAttempts(context.time());
        this.touches = new Touches(settings.tick());
        this.sweepNanos = ttl.toNanos() / 3;
        this.nextSweepNanos = context.time().nanoTime() + sweepNanos;
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

    StoreContext context() {
        return context;
    }

    Duration ttl() {
        return ttl;
    }

    /**
     * What a renewal may ask for: the ttl, and the margin by which a lease ends before it. Who extends a lease by its own
     * ttl gets what a fresh one has, a margin less; beyond that there is nothing to give.
     */
    Duration longestAsked() {
        Duration margin = ttl.dividedBy(99).plusMillis(4);
        return ttl.plus(margin.compareTo(settings.tick()) < 0 ? settings.tick() : margin);
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

    private synchronized boolean isReady() {
        return state == State.CONNECTED;
    }

    /** Somebody is about to register a place. */
    void reserve() {
        users.incrementAndGet();
    }

    /** He has, or will not. */
    void unreserve() {
        users.decrementAndGet();
    }

    boolean isIdle() {
        return users.get() == 0 && places.isEmpty() && orphans.isEmpty();
    }

    /** Waits until there is a connection. */
    void awaitReady(String lock, Deadline deadline) throws SessionOverException {
        while (true) {
            CompletableFuture<Void> change;
            State now;
            synchronized (this) {
                if (ending != null) {
                    throw new SessionOverException(ending, endingDetail);
                }
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

    private String whyNotReady(State now) {
        ZooKeeper known = client;
        if (known != null && known.getState() == ZooKeeper.States.CONNECTEDREADONLY) {
            return "the server reached at " + settings.store() + " is read-only, it has lost its quorum";
        }
        return now == State.SUSPENDED
                ? "the connection to " + settings.store() + " is lost and not back in time"
                : "no server of " + settings.store()
                        + " answered in time. Is ZooKeeper running there? Check hosts and ports";
    }

    /** A place is registered before its node is asked for, so whatever happens to the session reaches it. */
    void register(Place place) throws SessionOverException {
        places.put(place.owner(), place);
        boolean alive;
        synchronized (this) {
            alive = ending == null;
        }
        if (alive) {
            pulseAtLeastBy(context.time().nanoTime() + pulseNanos());
            return;
        }
        places.remove(place.owner(), place);
        throw new SessionOverException(Ending.EXPIRED, endingDetail);
    }

    @Nullable
    Place find(OwnerId owner) {
        Place place = places.get(owner);
        if (place != null) {
            return place;
        }
        return orphans.keySet().stream()
                .filter(orphan -> orphan.owner().equals(owner))
                .findFirst()
                .orElse(null);
    }

    /** Nothing of the place is left at the servers. */
    void forget(Place place) {
        places.remove(place.owner(), place);
        orphans.remove(place);
    }

    /** Something of the place may be left, or may yet appear: it is looked for and removed until that is settled. */
    void orphan(Place place) {
        orphans.putIfAbsent(place, context.time().nanoTime());
        places.remove(place.owner(), place);
        if (isEnded()) {
            orphans.remove(place);
        }
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
        return write(wire -> unlessMissing(wire.write(settings.beacon()).thenApply(nothing -> true), false))
                .thenAccept(existed -> {});
    }

    /** Whether there was such a node. */
    CompletableFuture<Boolean> delete(String path) {
        return write(wire -> unlessMissing(wire.delete(path).thenApply(nothing -> true), false));
    }

    CompletableFuture<Wire.Created> create(String path, byte[] data, CreateMode mode) {
        return write(wire -> wire.create(path, data, settings.acl(), mode));
    }

    /**
     * Removes whatever there is of a place; completes when nothing is left and nothing can appear any more. Whether there
     * was something.
     */
    CompletableFuture<Boolean> settle(Place place) {
        String path = place.path();
        CompletableFuture<Boolean> removal = path != null ? delete(path) : findAndDelete(place);
        return removal.whenComplete((existed, failure) -> {
            if (failure == null ? existed : Wire.isUnknown(Wire.code(failure))) {
                place.deletedByUs();
            }
            if (failure == null) {
                forget(place);
            }
        });
    }

    private CompletableFuture<Boolean> findAndDelete(Place place) {
        // The write comes first. What an earlier connection has sent is before it in the servers' log, so the listing
        // shows it; or it is refused, because the session has moved on.
        CompletableFuture<Void> barrier = prove();
        CompletableFuture<List<String>> listing = unlessMissing(wire().children(place.directory(), null), List.of());
        return barrier.thenCombine(listing, (proven, nodes) -> Line.of(nodes).of(place.uuid()))
                .thenCompose(found -> {
                    CompletableFuture<Boolean> any = CompletableFuture.completedFuture(false);
                    for (Member node : found) {
                        CompletableFuture<Boolean> one = deleteIfOurs(place.directory() + "/" + node.node());
                        any = any.thenCombine(one, Boolean::logicalOr);
                    }
                    return any;
                });
    }

    private CompletableFuture<Boolean> deleteIfOurs(String path) {
        return unlessMissing(
                        wire().data(path, null).thenApply(data -> data.stat().getEphemeralOwner() == id()), false)
                .thenCompose(ours -> ours ? delete(path) : CompletableFuture.completedFuture(false));
    }

    /** Makes an orphan of the place and removes it, now if there is a connection, else with the next sweep. */
    void settleInBackground(Place place) {
        orphan(place);
        if (isConnected() && !isEnded()) {
            inBackground(() -> settleQuietly(place));
        }
    }

    /** Runs once, on the next connection of this session, if there is one. */
    void afterReconnect(Runnable task) {
        uponReconnect.add(task);
        synchronized (this) {
            if (state != State.CONNECTED) {
                return;
            }
        }
        if (uponReconnect.remove(task)) {
            inBackground(task);
        }
    }

    /** Whatever a request failed with; an expired session is noticed here too, should its event be late. */
    void failed(Throwable failure) {
        if (Wire.code(failure) == Code.SESSIONEXPIRED) {
            end(Ending.EXPIRED, "the session expired at the servers");
        }
    }

    /** Gives up waiting for the servers to end it: no place of it counts any more. */
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
        nextPulse.set(null);
        Place.forEach(List.copyOf(places.values()), place -> place.sessionEnded(detail));
        places.clear();
        orphans.clear();
        uponReconnect.clear();
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
        List<Runnable> tasks = new ArrayList<>(uponReconnect);
        for (Runnable task : tasks) {
            if (uponReconnect.remove(task)) {
                runOrHandOver(task);
            }
        }
    }

    private void runOrHandOver(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, () -> "Trouble on a new connection to " + settings.store() + "; trying again", e);
            inBackground(task);
        }
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

    /** On the client's timer: touches the session, ends what nobody keeps, and comes again. See {@link Touches}. */
    private void pulse() {
        if (isEnded()) {
            return;
        }
        long now = context.time().nanoTime();
        try {
            tend(now);
        } finally {
            long pause = isReady() && isIdle() ? Math.max(pulseNanos(), ttl.toNanos() / 6) : pulseNanos();
            pulseAtLeastBy(now + pause);
        }
    }

    private void tend(long now) {
        boolean own = settings.connector().isOwn();
        if (isConnected() && (isReady() || !own)) {
            touch(now);
        } else if (own && isOverdue(now)) {
            // It has expired by all likelihood, but if no server lets this client in (say, because they have lost their
            // data and wait for one that is not ahead of them), nobody will ever say so.
            end(Ending.EXPIRED, "no server was reachable for as long as its timeout");
            return;
        }
        Place.forEach(places.values(), place -> place.tend(now));
        if (now - nextSweepNanos >= 0) {
            nextSweepNanos = now + sweepNanos;
            inBackground(this::sweep);
        }
    }

    /** An earlier pulse takes the place of a later one, whose alarm then finds that it is not the next any more. */
    private void pulseAtLeastBy(long atNanos) {
        Pulse known = nextPulse.get();
        while (known == null || atNanos - known.atNanos < 0) {
            Pulse earlier = new Pulse(atNanos);
            if (nextPulse.compareAndSet(known, earlier)) {
                context.timer().at(atNanos, () -> {
                    if (nextPulse.compareAndSet(earlier, null)) {
                        pulse();
                    }
                });
                return;
            }
            known = nextPulse.get();
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

    /** Whether it is worth sending something now. */
    boolean isConnected() {
        ZooKeeper known = client;
        return known != null && known.getState().isConnected();
    }

    private void sweep() {
        for (Map.Entry<Place, Long> orphan : orphans.entrySet()) {
            if (context.time().nanoTime() - orphan.getValue() > ttl.toNanos()
                    && settings.connector().isOwn()) {
                end(
                        Ending.EXPIRED,
                        "given up, because what a request for lock '"
                                + orphan.getKey().lock() + "' may have left could not be removed within the ttl");
                return;
            }
            if (isConnected()) {
                settleQuietly(orphan.getKey());
            }
        }
    }

    private void settleQuietly(Place place) {
        settle(place).whenComplete((nothing, failure) -> {
            if (failure != null) {
                failed(failure);
            }
        });
    }

    /** Hands a task over, later if that fails now, as long as the session lives: somebody may wait for it. */
    private void inBackground(Runnable task) {
        try {
            context.background().execute(task);
        } catch (RuntimeException | Error e) {
            LOG.log(Level.DEBUG, "Cannot hand over a task", e);
            if (!isEnded()) {
                context.timer().at(context.time().nanoTime() + pulseNanos(), () -> inBackground(task));
            }
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

    /** The answer, or {@code instead} if the answer is that there is no such node. */
    private static <T> CompletableFuture<T> unlessMissing(CompletableFuture<T> request, T instead) {
        return request.exceptionallyCompose(failure -> Wire.code(failure) == Code.NONODE
                ? CompletableFuture.completedFuture(instead)
                : CompletableFuture.failedFuture(failure));
    }

    /** The next pulse. A class, not a number, since plans are told apart by identity. */
    private static final class Pulse {

        private final long atNanos;

        Pulse(long atNanos) {
            this.atNanos = atNanos;
        }
    }
}
