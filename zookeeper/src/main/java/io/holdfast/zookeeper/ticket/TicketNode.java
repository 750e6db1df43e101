package io.holdfast.zookeeper.ticket;

import io.holdfast.LossReason;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.AsyncZooKeeper.Created;
import io.holdfast.zookeeper.session.Failures;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.SessionOverException;
import io.holdfast.zookeeper.session.WatchHub;
import io.holdfast.zookeeper.ticket.EphemeralNode.Joined;
import io.holdfast.zookeeper.tree.LockTree;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * One ticket in a lock's queue, in one session: from before its node is asked for until the node is known to be gone.
 *
 * <p>Thread-safe.
 */
final class TicketNode {

    /*
     * The protocol
     * ------------
     * A lock is a container node, a ticket an ephemeral sequential child of it. The queue is the children in the order of
     * their numbers, and Admission says how many of the first hold the lock. Everyone reads the queue, and since
     * newcomers only ever join behind, what a ticket has seen ahead of it can only shrink. So an old listing is as good as a
     * new one, except that some of those ahead may be gone; that is why a follower that lags behind the leader cannot make
     * a ticket believe in a grant that is not.
     *
     * Join: create, then list, sent back to back: one round trip. The listing is served after the create, so it holds our
     * node and everybody ahead. If the lock's directory may be missing, creating it is sent ahead in the same pipeline; it
     * is a container, which the servers remove some time after its last child, and that may happen between any two of
     * our requests: "no node" sends the whole pipeline again. Never while our own node is in it, so our number
     * stays comparable for as long as we have one.
     *
     * Wait: LockWaiters. While it follows the queue, a join needs no listing of its own; nor does one to a lock that nobody else
     * uses, see LastTurns.
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
     *   the request is still joining, and joins again in a new session with a new node. Never both: see startReporting.
     * - A watch fires, and we are long dead: a process that was stopped for a minute finds the event in its socket. The
     *   event proves that we were still queued when the servers sent it, not that we are. The grant's base is the last
     *   write the session had answered (see SessionBase), and the ticket holds that against the clock.
     * - A session that was given up while no server was reachable may live on there, with the node of a ticket that has
     *   joined again in another session. Both carry the uuid: our node is told by its whole name, and whose session a node
     *   found by uuid belongs to is looked up. The other one is a stranger that will leave with its session.
     * - Somebody deletes our node: an administrator, or a person with a shell. A ticket sets a watch on its own node with its
     *   first renewal or a third of the ttl after it was queued, and when it has been held for half a second, so that one
     *   that is held only briefly pays nothing for it.
     * - Numbers start again from zero when a container is removed and made anew, so they order a queue and nothing else: the
     *   token is the czxid, the transaction that made the node, which only grows, for this lock and all others (P2).
     * - Numbers are used up: a directory that is never empty when the servers look has had 2^31 tickets after a month of a
     *   thousand a second. The servers do not count on, whatever their manual says: all who come get the last number, and
     *   their order would be that of their uuids. Who gets that one leaves again and removes the directory, if it is empty.
     * - A ticket whose deadline passes, say because it is not renewed, while the session shared by many lives on: the servers
     *   would keep its node for ever. The session's user ends the ticket and deletes the node.
     */

    /** With the time between two rounds: its holder hears of a forced release within a second. */
    private static final long BRIEFLY_NANOS = Duration.ofMillis(500).toNanos();

    private final SessionTickets tickets;
    private final Session session;
    private final Ticket ticket;
    private final EphemeralNode node;
    private final WatchHub.Listener ownNode = this::ownNodeChanged;
    private final AtomicBoolean ownNodeWatched = new AtomicBoolean();

    private volatile boolean reporting;

    /** As the thread that joined has seen it. */
    private @Nullable Joined joined;

    TicketNode(SessionTickets tickets, Ticket ticket, LockTree tree, Directories directories) {
        this.tickets = tickets;
        this.session = tickets.session();
        this.ticket = ticket;
        this.node = new EphemeralNode(session, ticket, tree, directories, tickets.turns());
    }

    String lock() {
        return ticket.name();
    }

    Ticket ticket() {
        return ticket;
    }

    Session session() {
        return session;
    }

    SessionTickets tickets() {
        return tickets;
    }

    EphemeralNode node() {
        return node;
    }

    // ---- joining, on the caller's thread ----

    void join(Deadline deadline) throws KeeperException, SessionOverException {
        Joined found = node.make(tickets, deadline);
        joined = found;
        if (found.admitted()
                && found.listing()
                        .filter(queue -> queue.size() >= LockWaiters.NEAR)
                        .isPresent()) {
            tickets.joinedByListing(node.directory());
        }
    }

    /** Whether it holds the lock, as far as was seen when it joined. */
    boolean isAdmitted() {
        return joined != null && joined.admitted();
    }

    /** Tells the ticket that it holds the lock or waits, and from now on what becomes of it. */
    void startReporting() throws SessionOverException {
        synchronized (this) {
            session.requireAlive();
            reporting = true;
        }
        if (isAdmitted()) {
            reportGrant();
        } else {
            ticket.waiting(session.ttl(), session.baseNanos());
            tickets.await(this, Optional.ofNullable(joined).flatMap(Joined::listing));
        }
        joined = null;
    }

    // ---- what becomes of it ----

    void reportGrant() {
        node.created().ifPresent(known -> ticket.granted(known.czxid(), session.ttl(), session.baseNanos()));
    }

    /** The session was kept by a write. Tells the ticket it was asked for, which need not be the one the node was made for. */
    void reportRenewal(Ticket asked) {
        if (!tickets.isLive(this)) {
            asked.gone(LossReason.GONE, "its node was given up");
        } else if (asked.state() == Ticket.State.WAITING) {
            asked.waiting(session.ttl(), session.baseNanos());
        } else {
            asked.extended(session.ttl(), session.baseNanos());
        }
    }

    void sessionEnded(String detail) {
        stopWatching();
        boolean told;
        synchronized (this) {
            told = reporting;
        }
        if (told) {
            ticket.gone(LossReason.GONE, detail);
        }
    }

    void ownNodeDeleted() {
        ticket.gone(
                LossReason.FORCED,
                "somebody deleted its node " + node.created().map(Created::path).orElse(""));
        tickets.forget(this);
    }

    /** The queue could not be listed. The ticket keeps its place, and the next heartbeat looks again. */
    void reportUnseen(Throwable failure) {
        session.noteFailure(failure);
        KeeperException why = KeeperException.create(Answers.code(failure), node.directory());
        ticket.failing(Failures.refused(lock(), session.ensemble(), why));
    }

    /** Whether its ticket has ended without ever having held the lock. */
    boolean isGivenUp() {
        return ticket.state() == Ticket.State.ENDED
                && ticket.storeToken() == Tokens.NONE
                && node.created().isPresent();
    }

    /** Comes again and again: ends what nobody keeps, and watches over what is kept for longer. */
    void tend(long nowNanos) {
        if (!reporting) {
            return;
        }
        // Not sooner: a ticket ended by its owner is about to be released or withdrawn, and that wants a true answer.
        if (nowNanos - ticket.endNanos() > 0 && ticket.endIfExpired()) {
            tickets.abandonAndRemove(this);
        } else if (nowNanos - ticket.baseNanos() > unwatchedNanos() && session.isReachable()) {
            watchOwnNode();
        }
    }

    /** A view tells those who wait. */
    private long unwatchedNanos() {
        long third = session.ttl().toNanos() / 3;
        return ticket.state() == Ticket.State.HELD ? Math.min(BRIEFLY_NANOS, third) : third;
    }

    /** Asks, once, to be told when somebody else deletes our node, and finds out whether somebody has. */
    void watchOwnNode() {
        String path = node.created().map(Created::path).orElse(null);
        if (path == null || !tickets.isLive(this) || !ownNodeWatched.compareAndSet(false, true)) {
            return;
        }
        session.hub().register(path, ownNode);
        session.requests().data(path, session.hub()).whenComplete((data, failure) -> {
            if (failure != null) {
                session.hub().unregister(path, ownNode);
                ownNodeWatched.set(false);
                if (Answers.code(failure) == Code.NONODE) {
                    ownNodeDeleted();
                }
            }
        });
    }

    /** Not every client sets watches again on its next connection, so the next renewal does. */
    void watchLost() {
        ownNodeWatched.set(false);
    }

    private void ownNodeChanged(String path, EventType change) {
        ownNodeWatched.set(false);
        if (change == EventType.NodeDeleted) {
            ownNodeDeleted();
        }
    }

    void stopWatching() {
        tickets.view(node.directory()).ifPresent(view -> view.remove(this));
        node.created().ifPresent(known -> session.hub().unregister(known.path(), ownNode));
    }

    @Override
    public String toString() {
        return "node of " + ticket;
    }
}
