package io.holdfast.zookeeper;

import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * One ticket's node in a lock's line, in one session: from before it is asked for until it is known to be gone.
 *
 * <p>Thread-safe.
 */
final class Place {

    /*
     * The protocol
     * ------------
     * A lock is a container node, a ticket an ephemeral sequential child of it. The line is the children in the order of
     * their numbers, and Admission says how many of the first hold the lock. Nobody is told: everyone reads the line once,
     * and since newcomers only ever join behind, what a ticket has seen ahead of it can only shrink. So an old listing is as
     * good as a new one, except that some of those ahead may be gone; that is why one listing is kept, and why a follower
     * that lags behind the leader cannot make a ticket believe in a grant that is not.
     *
     * Join: create, then list, sent back to back: one round trip. The listing is served after the create, so it holds our
     * node and everybody ahead. If the lock's directory may be missing, creating it is sent ahead in the same pipeline; it
     * is a container, which the servers remove some time after its last child, and that may happen between any two of
     * our requests: "no node" sends the whole pipeline again. Never while our own node is in it, so our number
     * stays comparable for as long as we have one.
     *
     * Wait: PredecessorWatch.
     *
     * Leave: delete our node, by its full name. The name holds a uuid of the ticket's owner, so a delete that is repeated, or
     * late, can hit nothing but this ticket's own node (P3).
     *
     * What went wrong in others, or would here
     * - The answer to a create is lost. The node is there, in our session, and the session lives on: nobody would ever get
     *   the lock again. So the name of the node is known beforehand up to its number. On the next connection a write is sent
     *   first, then a listing: an earlier create is before that write in the log, or will be refused as coming from a
     *   session that has moved. A listing alone may be served by a follower that has not heard of the create yet.
     *   If the caller has no time left, the node is abandoned to SessionTickets, which does the same until it is gone (P7).
     * - Two nodes of one ticket: a second create is sent only when a write and a listing have shown there is no first.
     * - The session ends while we wait, and a new one begins: watches of the old one are silent for ever, and a grant
     *   derived from an old node would be of a node that is gone. Every node belongs to one Session object, which is one
     *   session. When it ends, either the ticket has been told of its grant or its wait, and hears that it is gone; or
     *   the request is still joining, and joins again in a new session with a new object. Never both: see startReporting.
     * - A watch fires, and we are long dead: a process that was stopped for a minute finds the event in its socket. The
     *   event proves that we were still in line when the servers sent it, not that we are. The grant's base is the last
     *   write the session had answered (see Touches), and the ticket holds that against the clock.
     * - A session that was given up while no server was reachable may live on there, with the node of a ticket that has
     *   joined again in another session. Both carry the uuid: our node is told by its whole name, and whose session a node
     *   found by uuid belongs to is looked up. The other one is a stranger that will leave with its session.
     * - Somebody deletes our node: an administrator, or a person with a shell. A held or waiting ticket sets a watch on its
     *   own node with its first renewal, or after a third of the ttl if it is not renewed (so one that is held only briefly
     *   pays nothing for it).
     * - Numbers wrap around after 2^31 requests, to negative ones: they are compared by distance (Line). They start again
     *   from zero when a container is removed and made anew, so they order a line and nothing else: the token is the czxid,
     *   the transaction that made the node, which only grows, for this lock and all others (P2).
     * - A ticket whose deadline passes, say because it is not renewed, while the session shared by many lives on: the servers
     *   would keep its node for ever. The session's pulse ends the ticket and deletes the node.
     */

    /** A directory that cannot be made is found out after this many tries. */
    private static final int MOST_TRIES = 4;

    private static final long TOKEN_LIMIT = 1L << 53;

    private final SessionTickets tickets;
    private final Session session;
    private final Ticket ticket;
    private final Directories directories;
    private final String uuid;
    private final String directory;
    private final WatchHub.Listener ownNode = this::ownNodeChanged;
    private final AtomicBoolean ownNodeWatched = new AtomicBoolean();
    private final AtomicBoolean deleteSent = new AtomicBoolean();

    private volatile Wire.@Nullable Created node;
    private volatile @Nullable PredecessorWatch waiting;
    private volatile boolean mayExist;
    private volatile boolean reporting;

    /** Seen by the thread that joins. */
    private Line line = Line.of(List.of());

    Place(SessionTickets tickets, Ticket ticket, Directories directories) {
        this.tickets = tickets;
        this.session = tickets.session();
        this.ticket = ticket;
        this.directories = directories;
        this.uuid = NodeNames.uuid(ticket.owner());
        this.directory = session.settings().directory(ticket.name());
    }

    String lock() {
        return ticket.name();
    }

    String directory() {
        return directory;
    }

    Ticket ticket() {
        return ticket;
    }

    SessionTickets tickets() {
        return tickets;
    }

    Session session() {
        return session;
    }

    /** Whether a request was sent that makes the node, so that it must be looked for. */
    boolean mayExist() {
        return mayExist;
    }

    // ---- joining, on the caller's thread ----

    /** Makes the node and sees who is ahead. Fails with what ZooKeeper says, or late with an unknown outcome. */
    void join(Deadline deadline) throws KeeperException, SessionOverException {
        int missing = 0;
        while (true) {
            session.awaitReady(lock(), deadline);
            try {
                if (mayExist && node == null) {
                    findAgain(deadline);
                }
                if (node == null) {
                    create(deadline);
                } else {
                    line = lineOf(Wire.await(session.wire().children(directory, null), deadline));
                }
                requireListed();
                return;
            } catch (KeeperException e) {
                session.failed(e);
                if (e.code() == Code.NONODE && node == null && ++missing < MOST_TRIES) {
                    directories.forget(directory);
                } else if (!mayAskAgain(e, deadline)) {
                    throw e;
                }
            }
        }
    }

    /** Whether a request that failed so may do better on the next connection, or ends with the session. */
    static boolean mayAskAgain(KeeperException failure, Deadline deadline) {
        return failure.code() == Code.SESSIONEXPIRED || (Wire.isUnknown(failure.code()) && !deadline.hasPassed());
    }

    private void create(Deadline deadline) throws KeeperException {
        List<CompletableFuture<Wire.Created>> parents = directories.make(session, directory);
        mayExist = true;
        CompletableFuture<Wire.Created> creation = session.create(
                directory + "/"
                        + NodeNames.node(
                                uuid, ticket.demand(), session.settings().layout()),
                NodeData.of(ticket),
                CreateMode.EPHEMERAL_SEQUENTIAL);
        CompletableFuture<List<String>> listing = session.wire().children(directory, null);
        try {
            node = Wire.await(creation, deadline);
        } catch (KeeperException e) {
            mayExist = Wire.isUnknown(e.code());
            throw directories.reason(parents, e);
        }
        directories.made(directory);
        line = lineOf(Wire.await(listing, deadline));
    }

    /** The answer to our creation was lost with its connection: whether there is a node can be seen now. */
    private void findAgain(Deadline deadline) throws KeeperException {
        node = Wire.await(find(), deadline).orElse(null);
        mayExist = node != null;
    }

    private CompletableFuture<Optional<Wire.Created>> find() {
        // The write comes first. What an earlier connection has sent is before it in the servers' log, so the listing
        // shows it; or it is refused, because the session has moved on.
        CompletableFuture<Void> barrier = session.prove();
        CompletableFuture<List<String>> listing =
                Wire.unlessMissing(session.wire().children(directory, null), List.of());
        return barrier.thenCombine(listing, (proven, nodes) -> Line.of(nodes).of(uuid))
                .thenCompose(candidates -> {
                    CompletableFuture<Optional<Wire.Created>> found =
                            CompletableFuture.completedFuture(Optional.empty());
                    for (Member candidate : candidates) {
                        found = found.thenCombine(ifOurs(candidate), (one, other) -> one.or(() -> other));
                    }
                    return found;
                });
    }

    private CompletableFuture<Optional<Wire.Created>> ifOurs(Member candidate) {
        String path = directory + "/" + candidate.node();
        return Wire.unlessMissing(
                session.wire()
                        .data(path, null)
                        .thenApply(data -> data.stat().getEphemeralOwner() == session.id()
                                ? Optional.of(new Wire.Created(path, data.stat().getCzxid()))
                                : Optional.empty()),
                Optional.empty());
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

    private void requireListed() throws KeeperException {
        if (mine(line).isEmpty()) {
            // Somebody deleted it.
            node = null;
            mayExist = false;
            throw KeeperException.create(Code.NONODE, directory);
        }
        long czxid = made().czxid();
        if (czxid >= TOKEN_LIMIT) {
            throw new UnsupportedLockException(
                    lock(),
                    "the ensemble's transaction number " + Long.toHexString(czxid)
                            + " no longer fits a fencing token of 53 bits: it has had more than 2^21 leaders");
        }
    }

    private Wire.Created made() {
        Wire.Created known = node;
        if (known == null) {
            throw new StoreUnavailableException(lock(), "its node was not made");
        }
        return known;
    }

    Optional<Member> mine(Line seen) {
        Wire.Created own = node;
        return own == null ? Optional.empty() : seen.named(own.path().substring(directory.length() + 1));
    }

    /** Whether it holds the lock, as far as was seen when it joined. */
    boolean isAdmitted() {
        return mine(line).map(line::admits).orElse(false);
    }

    /** How many were ahead when it joined. */
    int ahead() {
        return mine(line).map(line.members()::indexOf).orElse(0);
    }

    // ---- what becomes of it ----

    /** Tells the ticket that it holds the lock or waits, and from now on what becomes of it. */
    void startReporting() throws SessionOverException {
        synchronized (this) {
            session.requireAlive();
            reporting = true;
        }
        if (isAdmitted()) {
            granted();
        } else {
            ticket.waiting(session.ttl(), session.baseNanos());
            PredecessorWatch watch = new PredecessorWatch(this);
            waiting = watch;
            watch.start(line);
        }
    }

    void sessionEnded(String reason) {
        stopWatching();
        boolean told;
        synchronized (this) {
            told = reporting;
        }
        if (told) {
            ticket.gone(LossReason.GONE, reason);
        }
    }

    void granted() {
        ticket.granted(made().czxid(), session.ttl(), session.baseNanos());
    }

    /** The session was kept by a write. */
    void renewed() {
        if (!tickets.isLive(this)) {
            ticket.gone(LossReason.GONE, "its node was given up");
        } else if (ticket.state() == Ticket.State.WAITING) {
            ticket.waiting(session.ttl(), session.baseNanos());
        } else {
            ticket.extended(session.ttl(), session.baseNanos());
        }
    }

    /** Comes with the session's pulse: ends what nobody keeps, and watches over what is kept for longer. */
    void tend(long nowNanos) {
        if (!reporting) {
            return;
        }
        // A ticket ended by its owner is about to be released or withdrawn, unless that is forgotten.
        if (nowNanos - ticket.endNanos() > 0 && ticket.endIfExpired()) {
            tickets.abandonAndRemove(this);
        } else if (nowNanos - ticket.baseNanos() > session.ttl().toNanos() / 3 && session.isConnected()) {
            watchOwnNode();
        }
    }

    /** Comes with every connection and every renewal: looks again at those ahead if the last look was not answered. */
    void lookAgain() {
        PredecessorWatch watch = waiting;
        if (watch != null) {
            watch.lookAgain();
        }
    }

    /** Asks, once, to be told when somebody else deletes our node, and finds out whether somebody has. */
    void watchOwnNode() {
        Wire.Created own = node;
        if (own == null || !ownNodeWatched.compareAndSet(false, true)) {
            return;
        }
        session.hub().register(own.path(), ownNode);
        session.wire().data(own.path(), session.hub()).whenComplete((data, failure) -> {
            if (failure != null) {
                session.hub().unregister(own.path(), ownNode);
                ownNodeWatched.set(false);
                if (Wire.code(failure) == Code.NONODE) {
                    ownNodeDeleted();
                }
            }
        });
    }

    private void ownNodeChanged(String path, EventType change) {
        ownNodeWatched.set(false);
        if (change == EventType.NodeDeleted) {
            ownNodeDeleted();
        }
    }

    void ownNodeDeleted() {
        ticket.gone(LossReason.FORCED, "somebody deleted its node " + made().path());
        tickets.forget(this);
    }

    /** Those ahead cannot be seen, so it will never be known whether it holds the lock. */
    void cannotSee(Code why) {
        ticket.gone(LossReason.GONE, "ZooKeeper does not let it see who is ahead: " + why);
        tickets.abandonAndRemove(this);
    }

    void stopWatching() {
        PredecessorWatch watch = waiting;
        if (watch != null) {
            watch.stop();
        }
        Wire.Created own = node;
        if (own != null) {
            session.hub().unregister(own.path(), ownNode);
        }
    }

    /** Deletes whatever there is; completes with whether that, or an earlier deletion of ours, has removed something. */
    CompletableFuture<Boolean> delete() {
        Wire.Created known = node;
        return known != null
                ? delete(known)
                : find().thenCompose(found ->
                        found.map(this::delete).orElseGet(() -> CompletableFuture.completedFuture(false)));
    }

    private CompletableFuture<Boolean> delete(Wire.Created found) {
        // The answer to an earlier one may have been lost: if the node is gone now, that was us.
        boolean sentBefore = deleteSent.getAndSet(true);
        return session.delete(found.path()).thenApply(existed -> existed || sentBefore);
    }
}
