package io.holdfast.zookeeper;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Request;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * One request's node in a lock's line, in one session: from before it is asked for until it is known to be gone.
 *
 * <p>Thread-safe.
 */
final class Place {

    /*
     * The protocol
     * ------------
     * A lock is a container node, a request an ephemeral sequential child of it. The line is the children in the order of
     * their numbers, and Admission says how many of the first hold the lock. Nobody is told: everyone reads the line once,
     * and since newcomers only ever join behind, what a place has seen ahead of it can only shrink. So an old listing is as
     * good as a new one, except that some of those ahead may be gone; that is why one listing is kept, and why a follower
     * that lags behind the leader cannot make a place believe in a grant that is not.
     *
     * Join: create, then list, sent back to back: one round trip. The listing is served after the create, so it holds our
     * node and everybody ahead. If the lock's directory may be missing, creating it is sent ahead in the same pipeline; it
     * is a container, which the servers remove some time after its last child, and that may happen between any two of
     * our requests: "no node" sends the whole pipeline again. Never while our own node is in it, so our number
     * stays comparable for as long as we have one.
     *
     * Wait: an exclusive request has to see all ahead gone, a shared one all ahead that do not share: its blockers. It
     * watches the nearest, with getData, which leaves no watch behind if the node is gone already. When that one leaves and
     * was the last blocker in our listing, the lock is ours with no further request. Else somebody further ahead may or may
     * not be there: a single one is looked at (and watched) directly, of several a new listing tells. Permits depend on the
     * sum of all ahead, so they watch the line as a whole, and list at every change.
     *
     * Leave: delete our node, by its full name. The name holds a uuid of the request, so a delete that is repeated, or
     * late, can hit nothing but this request's own node (P3).
     *
     * What went wrong in others, or would here
     * - The answer to a create is lost. The node is there, in our session, and the session lives on: nobody would ever get
     *   the lock again. So the name of the node is known beforehand up to its number. On the next connection a write is sent
     *   first, then a listing: an earlier create is before that write in the log, or will be refused as coming from a
     *   session that has moved. A listing alone may be served by a follower that has not heard of the create yet.
     *   If the caller has no time left, the place is an orphan of its session, which does the same until it is settled (P7).
     * - The session ends while we wait, and a new one begins: watches of the old one are silent for ever, and a grant
     *   derived from an old node would be of a node that is gone. Every place belongs to one Session object, which is one
     *   session; when it ends, the place is told in sessionEnded, whatever it was doing. A new try is a new place.
     * - A watch fires, and we are long dead: a process that was stopped for a minute finds the event in its socket. The
     *   event proves that we were still in line when the servers sent it, not that we are. The grant's base is the last
     *   write the session had answered (see Touches), and the engine holds that against the clock.
     * - A session that was given up while no server was reachable may live on there, with the node of a request that has
     *   joined again in another session. Both carry the uuid: our place is told by its whole name, and whose session a node
     *   found by uuid belongs to is looked up. The other one is a stranger that will leave with its session.
     * - Two nodes of one request: a second create is sent only when a write and a listing have shown there is no first.
     * - Grant and withdrawal race: both change state under the monitor, and the listener is called under it. After a
     *   withdrawal no grant is told; before it, the grant is known to the one who withdraws.
     * - Somebody deletes our node: an administrator, or a person with a shell. A held or waiting place sets a watch on its
     *   own node with its first renewal, or after a third of the ttl if it is not renewed (so one that is held only briefly
     *   pays nothing for it).
     * - Numbers wrap around after 2^31 requests, to negative ones: they are compared by distance (Line). They start again
     *   from zero when a container is removed and made anew, so they order a line and nothing else: the token is the czxid,
     *   the transaction that made the node, which only grows, for this lock and all others (P2).
     * - A client that is alive, but whose engine forgot a claim: a session shared by many locks would keep it for ever. A
     *   claim that is not renewed for its ttl is ended and deleted by the session's pulse.
     */

    private enum State {
        /** The node is asked for; whether it is there is not known yet. */
        JOINING,
        WAITING,
        HELD,
        /** Not wanted any more, by us or by the servers; the node may still be there. */
        ENDED
    }

    private static final Logger LOG = System.getLogger(Place.class.getName());

    /** A directory that cannot be made is found out after this many tries. */
    private static final int MOST_TRIES = 4;

    private static final long TOKEN_LIMIT = 1L << 53;

    private final Session session;
    private final Request request;
    private final @Nullable TicketListener listener;
    private final String uuid;
    private final String directory;
    private final Directories directories;

    private volatile @Nullable String path;
    private volatile long czxid;
    private volatile long keptUntilNanos;
    private volatile boolean ownNodeWatched;
    private volatile boolean deletedByUs;

    // Guarded by this.
    private State state = State.JOINING;
    private String endReason = "";
    private List<String> blockers = List.of();
    private @Nullable String watched;

    // Used by the thread that joins.
    private boolean mayExist;
    private @Nullable Line line;

    Place(Session session, Request request, @Nullable TicketListener listener, Directories directories) {
        this.session = session;
        this.request = request;
        this.listener = listener;
        this.directories = directories;
        this.uuid = NodeNames.uuid(request.owner());
        this.directory = session.settings().directory(request.name());
    }

    /** Lets trouble with one not reach the others. */
    static void forEach(Collection<Place> places, Consumer<Place> action) {
        for (Place place : places) {
            try {
                action.accept(place);
            } catch (RuntimeException | Error e) {
                LOG.log(Level.WARNING, () -> "Trouble with a request for lock '" + place.lock() + "'", e);
            }
        }
    }

    OwnerId owner() {
        return request.owner();
    }

    String lock() {
        return request.name();
    }

    String uuid() {
        return uuid;
    }

    String directory() {
        return directory;
    }

    Session session() {
        return session;
    }

    /** Null as long as the answer to the creation is outstanding. */
    @Nullable
    String path() {
        return path;
    }

    /** Whether a request was sent that makes the node, so that it must be looked for. */
    boolean mayExist() {
        return mayExist;
    }

    /** A delete of ours has removed the node, or may have: if it is gone when the next one comes, that was us. */
    void deletedByUs() {
        deletedByUs = true;
    }

    boolean wasDeletedByUs() {
        return deletedByUs;
    }

    // ---- joining, on the caller's thread ----

    /** Makes the node and sees who is ahead. Fails with what ZooKeeper says, or late with an unknown outcome. */
    void join(Deadline deadline) throws KeeperException, SessionOverException {
        int missing = 0;
        while (true) {
            session.awaitReady(lock(), deadline);
            try {
                if (mayExist && path == null) {
                    findAgain(deadline);
                }
                if (path == null) {
                    create(deadline);
                } else {
                    line = list(deadline);
                }
                return;
            } catch (KeeperException e) {
                session.failed(e);
                if (e.code() == Code.NONODE && path == null && ++missing < MOST_TRIES) {
                    directories.forget(directory);
                } else if (e.code() != Code.SESSIONEXPIRED && (!Wire.isUnknown(e.code()) || deadline.hasPassed())) {
                    throw e;
                }
            }
        }
    }

    private void create(Deadline deadline) throws KeeperException {
        List<CompletableFuture<Wire.Created>> parents = directories.make(session, directory);
        mayExist = true;
        CompletableFuture<Wire.Created> creation = session.create(
                directory + "/"
                        + NodeNames.node(
                                uuid, request.demand(), session.settings().layout()),
                NodeData.of(request),
                CreateMode.EPHEMERAL_SEQUENTIAL);
        CompletableFuture<List<String>> listing = session.wire().children(directory, null);
        Wire.Created created;
        try {
            created = Wire.await(creation, deadline);
        } catch (KeeperException e) {
            mayExist = Wire.isUnknown(e.code());
            throw directories.reason(parents, e);
        }
        directories.made(directory);
        found(created.path(), created.czxid());
        line = lineOf(Wire.await(listing, deadline));
    }

    /** The answer to our creation was lost with its connection: whether there is a node is in the listing now. */
    private void findAgain(Deadline deadline) throws KeeperException {
        CompletableFuture<Void> barrier = session.prove();
        CompletableFuture<List<String>> listing = session.wire().children(directory, null);
        Wire.await(barrier, deadline);
        try {
            for (Member candidate : lineOf(Wire.await(listing, deadline)).of(uuid)) {
                String node = directory + "/" + candidate.node();
                Stat stat =
                        Wire.await(session.wire().data(node, null), deadline).stat();
                if (stat.getEphemeralOwner() == session.id()) {
                    found(node, stat.getCzxid());
                    return;
                }
            }
        } catch (KeeperException.NoNodeException e) {
            // Neither the directory nor, so, the node.
        }
        mayExist = false;
    }

    private Line list(Deadline deadline) throws KeeperException {
        return lineOf(Wire.await(session.wire().children(directory, null), deadline));
    }

    private Line lineOf(List<String> nodes) {
        if (Line.isTooLong(nodes)) {
            throw new UnsupportedLockException(
                    lock(),
                    "more than " + Line.LONGEST + " requests in line for one lock would exceed what ZooKeeper lists in "
                            + "one answer; let threads of one client wait at its own gate (fairness BALANCED)");
        }
        return Line.of(nodes);
    }

    private void found(String node, long transaction) {
        if (transaction >= TOKEN_LIMIT) {
            path = node;
            throw new UnsupportedLockException(
                    lock(),
                    "the ensemble's transaction number " + Long.toHexString(transaction)
                            + " no longer fits a fencing token of 53 bits: it has had more than 2^21 leaders");
        }
        czxid = transaction;
        path = node;
    }

    // ---- what becomes of it ----

    /** Holds the lock if that is what the line says. Otherwise the place is as good as left. */
    boolean holdOrEnd() throws SessionOverException {
        synchronized (this) {
            requireInLine();
            if (isAdmitted()) {
                settleInAs(State.HELD);
                return true;
            }
            state = State.ENDED;
            return false;
        }
    }

    /** Holds the lock or waits in line. */
    Answer holdOrWait() throws SessionOverException {
        synchronized (this) {
            requireInLine();
            if (isAdmitted()) {
                settleInAs(State.HELD);
                return new Answer.Granted(grant());
            }
            settleInAs(State.WAITING);
        }
        Ticket ticket = new Ticket(request, session.ttl(), session.baseNanos(), this);
        follow(seenLine());
        return new Answer.Queued(ticket);
    }

    // Called with the monitor held. Wanted for a ttl from now on: joining may have taken long.
    private void settleInAs(State next) {
        kept();
        state = next;
    }

    Grant grant() {
        return new Grant(request, czxid, session.ttl(), session.baseNanos(), this);
    }

    int ahead() {
        return mine(seenLine()).map(mine -> seenLine().members().indexOf(mine)).orElse(0);
    }

    /** From now on nobody hears of it. False if it had ended before. */
    boolean end(String reason) {
        synchronized (this) {
            if (state == State.ENDED) {
                return false;
            }
            state = State.ENDED;
            endReason = reason;
        }
        stopWatching();
        return true;
    }

    /** Why it is no longer kept, or null if it is. */
    synchronized @Nullable String endReason() {
        return state == State.ENDED ? endReason : null;
    }

    /** It is wanted for a ttl from now on. */
    void kept() {
        keptUntilNanos = now() + request.ttl().toNanos();
    }

    /** Comes with the session's pulse: ends what nobody keeps, and watches over what is kept for longer. */
    void tend(long now) {
        if (!isSettledIn()) {
            return;
        }
        long left = keptUntilNanos - now;
        if (left < 0) {
            if (lose(LossReason.EXPIRED, "it was not renewed for its ttl")) {
                session.settleInBackground(this);
            }
        } else if (left < request.ttl().toNanos() / 3 * 2 && session.isConnected()) {
            watchOwnNode();
        }
    }

    void sessionEnded(String reason) {
        lose(LossReason.GONE, reason);
    }

    /** Asks, once, to be told when somebody else deletes our node, and finds out whether somebody has. */
    void watchOwnNode() {
        String own = path;
        if (ownNodeWatched || own == null) {
            return;
        }
        ownNodeWatched = true;
        session.hub().register(own, this);
        session.wire().data(own, session.hub()).whenComplete((data, failure) -> {
            if (failure == null) {
                return;
            }
            session.hub().unregister(own, this);
            ownNodeWatched = false;
            if (Wire.code(failure) == Code.NONODE) {
                ownNodeDeleted();
            }
        });
    }

    // ---- waiting, on ZooKeeper's event thread ----

    /** A watched node is gone or has changed. */
    void changed(String changedPath, boolean deleted) {
        if (changedPath.equals(path)) {
            ownNodeWatched = false;
            if (deleted) {
                ownNodeDeleted();
            }
        } else if (changedPath.equals(directory)) {
            relist();
        } else {
            String node = changedPath.substring(directory.length() + 1);
            if (deleted) {
                blockerGone(node);
            } else if (isWatching(node)) {
                watch(node);
            }
        }
    }

    private void follow(Line seen) {
        if (request.demand() instanceof Demand.Permits) {
            // The listing that made us wait had no watch: somebody may have left since.
            relist();
            return;
        }
        Member mine = mine(seen).orElseThrow();
        String nearest;
        synchronized (this) {
            blockers = new ArrayList<>(seen.blockers(mine));
            nearest = blockers.get(blockers.size() - 1);
        }
        watch(nearest);
    }

    private void watch(String node) {
        synchronized (this) {
            if (state != State.WAITING) {
                return;
            }
            watched = node;
        }
        String nodePath = directory + "/" + node;
        session.hub().register(nodePath, this);
        if (!isWatching(node)) {
            // It ended meanwhile, and may have looked for what to unregister before there was anything.
            session.hub().unregister(nodePath, this);
            return;
        }
        session.wire().data(nodePath, session.hub()).whenComplete((data, failure) -> {
            if (failure != null) {
                notWatched(node, Wire.code(failure));
            }
        });
    }

    private void notWatched(String node, Code why) {
        String nodePath = directory + "/" + node;
        switch (why) {
            case NONODE -> {
                session.hub().unregister(nodePath, this);
                blockerGone(node);
            }
            case NOAUTH -> watchUnreadable(node);
            default -> {
                session.hub().unregister(nodePath, this);
                askAgainAfter(why);
            }
        }
    }

    /** A foreign node we may not read. That it exists anybody may know. */
    private void watchUnreadable(String node) {
        String nodePath = directory + "/" + node;
        session.wire().exists(nodePath, session.hub()).whenComplete((nothing, failure) -> {
            if (failure != null) {
                session.hub().unregister(nodePath, this);
                if (Wire.code(failure) == Code.NONODE) {
                    blockerGone(node);
                } else {
                    askAgainAfter(Wire.code(failure));
                }
            }
        });
    }

    private void blockerGone(String node) {
        List<String> left;
        synchronized (this) {
            if (state != State.WAITING || !node.equals(watched)) {
                return;
            }
            watched = null;
            blockers.remove(node);
            left = List.copyOf(blockers);
        }
        if (left.isEmpty()) {
            granted();
        } else if (left.size() == 1) {
            watch(left.get(0));
        } else {
            relist();
        }
    }

    private void relist() {
        boolean permits = request.demand() instanceof Demand.Permits;
        synchronized (this) {
            if (state != State.WAITING) {
                return;
            }
        }
        if (permits) {
            session.hub().register(directory, this);
        }
        session.wire().children(directory, permits ? session.hub() : null).whenComplete((nodes, failure) -> {
            if (failure == null) {
                look(Line.of(nodes));
            } else {
                session.hub().unregister(directory, this);
                askAgainAfter(Wire.code(failure));
            }
        });
    }

    private void look(Line seen) {
        Member mine = mine(seen).orElse(null);
        if (mine == null) {
            ownNodeDeleted();
        } else if (seen.admits(mine)) {
            session.hub().unregister(directory, this);
            granted();
        } else if (!(request.demand() instanceof Demand.Permits)) {
            follow(seen);
        }
    }

    private void granted() {
        synchronized (this) {
            if (state == State.WAITING) {
                state = State.HELD;
                if (listener != null) {
                    listener.granted(grant());
                }
            }
        }
    }

    private void askAgainAfter(Code failure) {
        if (failure == Code.SESSIONEXPIRED) {
            session.failed(KeeperException.create(failure));
        } else if (Wire.isUnknown(failure)) {
            session.afterReconnect(this::relist);
        } else {
            lose(LossReason.GONE, "ZooKeeper does not let it see who is ahead: " + failure);
            session.settleInBackground(this);
        }
    }

    private void ownNodeDeleted() {
        if (lose(LossReason.FORCED, "somebody deleted its node " + path)) {
            session.forget(this);
        }
    }

    private boolean lose(LossReason reason, String detail) {
        boolean held;
        synchronized (this) {
            State was = state;
            state = State.ENDED;
            if (was == State.ENDED) {
                return false;
            }
            endReason = detail;
            if (was == State.WAITING && listener != null) {
                listener.lost(detail);
            }
            held = was == State.HELD;
        }
        stopWatching();
        if (held) {
            session.context().losses().lost(owner(), reason, detail);
        }
        return true;
    }

    private void stopWatching() {
        String ahead;
        synchronized (this) {
            ahead = watched;
            watched = null;
        }
        if (ahead != null) {
            session.hub().unregister(directory + "/" + ahead, this);
        }
        String own = path;
        if (own != null) {
            session.hub().unregister(own, this);
        }
        session.hub().unregister(directory, this);
    }

    private synchronized boolean isWatching(String node) {
        return state == State.WAITING && node.equals(watched);
    }

    private synchronized boolean isSettledIn() {
        return state == State.WAITING || state == State.HELD;
    }

    private boolean isAdmitted() {
        Line seen = seenLine();
        return mine(seen).map(seen::admits).orElse(false);
    }

    private Optional<Member> mine(Line seen) {
        String own = path;
        return own == null ? Optional.empty() : seen.named(own.substring(directory.length() + 1));
    }

    private Line seenLine() {
        Line seen = line;
        if (seen == null) {
            throw new StoreUnavailableException(lock(), "the line was not read");
        }
        return seen;
    }

    private void requireInLine() throws SessionOverException {
        if (state == State.ENDED) {
            throw new SessionOverException(SessionOverException.Ending.EXPIRED, endReason);
        }
        if (mine(seenLine()).isEmpty()) {
            throw new SessionOverException(SessionOverException.Ending.EXPIRED, "somebody deleted its node " + path);
        }
    }

    private long now() {
        return session.context().time().nanoTime();
    }
}
