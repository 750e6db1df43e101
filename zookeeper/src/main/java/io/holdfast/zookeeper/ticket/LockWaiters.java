package io.holdfast.zookeeper.ticket;

import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.AsyncZooKeeper.Children;
import io.holdfast.zookeeper.session.EachAlone;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.WatchHub;
import io.holdfast.zookeeper.tree.QueueView;
import io.holdfast.zookeeper.tree.QueueView.Ahead;
import io.holdfast.zookeeper.tree.QueuedNode;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * What one session knows of a lock's queue while it has tickets waiting there, or joins many holders again and again: exactly
 * who is queued, or, if many wait ahead of its first ticket, when to look again. Thread-safe.
 */
final class LockWaiters implements WatchHub.Listener {

    /*
     * A look is two requests back to back: a recursive watch on the lock's directory, and a listing. From the listing's answer
     * on every creation and deletion comes as an event, in order with all answers, so the view is exact, and a ticket is granted
     * when the rule admits it in the view. What could make it wrong, or keep it from hearing:
     *
     * - An event between the two answers: the listing was served after it, and replaces the view. One after it changes it.
     * - The connection is lost, and events with it: watches are set again without them. From the Disconnected event on nothing is
     *   known, and each new connection begins with a look. A request sent while there was no connection is answered on the next
     *   one: so only the answer of the latest look counts, and none whose watch was refused or lost.
     * - The next server lags behind: its listing may show nodes we have seen leave, which grants nothing too early, and they
     *   leave again. It is never behind an answer we had, so a waiting ticket that is missing there was deleted.
     * - A ticket that joins during a look: its creation was answered, so a look sent before has been answered too.
     * - Servers send no events of nodes one may not read. A creation we did not hear of leaves a gap in the numbers, and what
     *   is behind it is not covered until the next look. A deletion we did not hear of (for that or any other reason) shows at
     *   the next heartbeat: the version of the directory's children counts every creation and deletion, so it differs from
     *   what the view reckons. Nothing less would do for readers and permits, who depend on more than the first node.
     * - The directory is removed and made anew, with numbers from zero: never while a ticket of ours is in it. Its own deletion
     *   is an event too; then nothing is known.
     * - With NEAR or more waiting ahead of our first ticket the view is given up (the news of a release reach a bounded number
     *   of sessions), and a node at least that far ahead is watched, merely to know when to look: one that has to leave first.
     *   Far from the front nothing is granted. That far ahead may stand one that will hold the lock together with ours, and need
     *   not leave: so readers watch the last writer there. Of permits any holder may make room, and none has to; then the
     *   node is guessed, and heartbeats look. It is chosen for our first ticket: if that gives up, and the next asks for something
     *   else, we look again. Those who hold are not counted: a lock of many holders has a front too.
     * - Many hold the lock and none waits: readers, or permits. A listing is as long as the crowd, so a session that had to list
     *   them to join gets a view when it joins again within a tick. It is given up after NEAR changes that were of no use, so of
     *   the sessions that come and go only those hear of a change that came for one of the last NEAR: NEAR at most.
     * - Servers that refuse recursive watches (before 3.6, or with WatchManagerOptimized): every change in the directory is a
     *   reason to look.
     */

    /** With so many waiting ahead of its first ticket a session does not hear of every change. */
    static final int NEAR = 64;

    private enum Knowledge {
        /** Nothing, and nothing is under way to change that. */
        NONE,
        /** A look was sent. */
        LOOKING,
        EXACT,
        /** Somebody far ahead is watched. */
        FAR,
        /** Final: others take another view. */
        DROPPED
    }

    private final SessionTickets tickets;
    private final Session session;
    private final String directory;

    // Guarded by this.
    private final NavigableMap<QueuedNode, TicketNode> waiting = new TreeMap<>();
    private Knowledge knowledge = Knowledge.NONE;
    private QueueView queue = QueueView.of(List.of());
    private int looks;
    private boolean watched;
    private boolean checking;
    /** The first ticket, once found near. Nobody comes ahead of it: it stays near. */
    private @Nullable QueuedNode near;

    private String farAhead = "";
    private boolean farAheadMustLeave;
    /** For whom that one is watched. */
    private @Nullable QueuedNode farBehind;

    private long usedNanos;
    /** Changes of no use: since somebody waited or joined. */
    private int heardInVain;

    LockWaiters(SessionTickets tickets, String directory) {
        this.tickets = tickets;
        this.session = tickets.session();
        this.directory = directory;
        use();
        session.hub().follow(directory, this);
    }

    private void use() {
        usedNanos = tickets.nanoTime();
        heardInVain = 0;
    }

    // ---- those who join ----

    /** To be called before a node is made. True if it will be in the view when its creation is answered. */
    synchronized boolean expectCreation() {
        use();
        if (knowledge == Knowledge.NONE && session.watchesBelow()) {
            look();
        }
        // A look that was sent is answered before a creation that is sent now.
        return watched && (isExact() || knowledge == Knowledge.LOOKING);
    }

    /** A listing had to tell that a node holds the lock, with many others. The next one to join begins with a look. */
    synchronized void joinedByListing() {
        use();
        if (isExact() && waiting.isEmpty()) {
            know(Knowledge.NONE);
        }
    }

    private boolean isExact() {
        return knowledge == Knowledge.EXACT;
    }

    /** Whether the node holds the lock; empty if the view cannot tell. */
    synchronized Optional<Boolean> admits(QueuedNode node) {
        return isExact() && queue.covers(node) && !queue.isTooLong()
                ? Optional.of(queue.admits(node))
                : Optional.empty();
    }

    // ---- those who wait ----

    /**
     * Grants it when its turn comes. False if the view was dropped: take another.
     *
     * @param seen a listing with its node, if there was one
     */
    boolean add(TicketNode node, Optional<QueueView> seen) {
        Changes changes = new Changes();
        synchronized (this) {
            if (knowledge == Knowledge.DROPPED) {
                return false;
            }
            waiting.put(node.node().queued(), node);
            use();
            if (isExact() && queue.covers(node.node().queued())) {
                decide(changes);
            } else if (isExact() || isFarWithAnotherFirst() || (knowledge == Knowledge.NONE && !goFar(seen))) {
                look();
            }
        }
        changes.report();
        return true;
    }

    /** It waits no more, if it ever did. */
    synchronized void remove(TicketNode node) {
        if (node.node().created().isPresent() && waiting.remove(node.node().queued(), node)) {
            if (isFarWithAnotherFirst()) {
                look();
            }
            dropIfCrowded();
        }
    }

    // ---- the connection and the clock ----

    synchronized void disconnected() {
        if (knowledge != Knowledge.FAR && knowledge != Knowledge.DROPPED) {
            know(Knowledge.NONE);
        }
    }

    synchronized void connected() {
        if (waiting.isEmpty()) {
            drop();
        } else if (knowledge == Knowledge.FAR) {
            watchFarAhead();
        } else {
            look();
        }
    }

    /** Comes with heartbeats: finds out whether an event is missing. */
    synchronized void check() {
        if (waiting.isEmpty() || checking) {
            return;
        }
        if (knowledge == Knowledge.NONE || (knowledge == Knowledge.FAR && !farAheadMustLeave)) {
            look();
        } else if (isExact()) {
            int look = looks;
            checking = true;
            session.requests()
                    .exists(directory, null)
                    .whenComplete((stat, failure) -> checked(look, failure == null ? stat.getCversion() : null));
        } else if (knowledge == Knowledge.FAR) {
            int look = looks;
            session.requests().exists(farAhead, null).whenComplete((stat, failure) -> notFarAhead(look, failure));
        }
    }

    private synchronized void checked(int look, @Nullable Integer version) {
        checking = false;
        if (look == looks && isExact() && version != null && version != queue.version()) {
            look();
        }
    }

    /** Comes again and again: a session that had nobody waiting or joining for some time needs no view. */
    synchronized void tend(long nowNanos) {
        if (waiting.isEmpty()
                && nowNanos - usedNanos > session.ensemble().tick().toNanos()) {
            drop();
        }
    }

    synchronized void drop() {
        know(Knowledge.DROPPED);
        session.hub().unfollow(directory, this);
        unwatch();
        tickets.dropped(directory, this);
    }

    /** Somebody who comes again will be far behind, and must not hear of everything until then. */
    private void dropIfCrowded() {
        if (waiting.isEmpty() && (!isExact() || queue.size() >= NEAR)) {
            drop();
        }
    }

    // ---- looking ----

    private void look() {
        know(Knowledge.LOOKING);
        int look = looks;
        watched = session.watchesBelow();
        if (watched) {
            session.requests().watchBelow(directory, session.hub()).whenComplete((nothing, failure) -> {
                if (failure != null) {
                    notWatched(look, Answers.code(failure));
                }
            });
        }
        session.requests()
                .children(directory, watched ? null : session.hub())
                .whenComplete((children, failure) -> listed(look, children, failure));
    }

    private synchronized void notWatched(int look, Code why) {
        if (look != looks) {
            return;
        }
        know(Knowledge.NONE);
        if (!Answers.isUnknown(why) && why != Code.SESSIONEXPIRED) {
            session.refusesToWatchBelow(why);
            watched = false;
            connected();
        }
    }

    private void listed(int look, Children children, @Nullable Throwable failure) {
        Changes changes = new Changes();
        List<TicketNode> unseen = List.of();
        synchronized (this) {
            if (look != looks || knowledge != Knowledge.LOOKING) {
                return;
            }
            if (failure != null) {
                know(Knowledge.NONE);
                unseen = List.copyOf(waiting.values());
            } else {
                know(Knowledge.EXACT);
                queue = QueueView.of(children.names(), children.version());
                waiting.forEach((queued, node) -> {
                    if (!queue.contains(queued)) {
                        changes.deleted.add(node);
                    }
                });
                decide(changes);
            }
        }
        changes.report();
        EachAlone.forEach(unseen, node -> node.reportUnseen(failure));
    }

    private boolean goFar(Optional<QueueView> seen) {
        Optional<Ahead> ahead = seen.flatMap(known -> known.farAhead(NEAR, waiting.navigableKeySet()));
        ahead.ifPresent(found -> {
            know(Knowledge.FAR);
            unwatch();
            farAhead = directory + "/" + found.node().name();
            farAheadMustLeave = found.mustLeave();
            farBehind = found.waiter();
            watchFarAhead();
        });
        return ahead.isPresent();
    }

    /** Who must leave before one must leave before all behind it who ask for the same, and may stay for others. */
    private boolean isFarWithAnotherFirst() {
        if (knowledge != Knowledge.FAR || farBehind == null || waiting.isEmpty()) {
            return false;
        }
        QueuedNode first = waiting.firstKey();
        return first.compareTo(farBehind) < 0 || !first.demand().equals(farBehind.demand());
    }

    private void watchFarAhead() {
        int look = looks;
        session.requests().data(farAhead, session.hub()).whenComplete((data, failure) -> notFarAhead(look, failure));
    }

    /** If it may not be read, heartbeats find out when it has left. */
    private synchronized void notFarAhead(int look, @Nullable Throwable failure) {
        if (look == looks && failure != null && Answers.code(failure) == Code.NONODE) {
            look();
        }
    }

    /** From now on answers to earlier requests mean nothing. */
    private void know(Knowledge next) {
        knowledge = next;
        looks++;
        checking = false;
    }

    private void unwatch() {
        if (watched) {
            watched = false;
            session.unwatchBelow(directory);
        }
    }

    // ---- events ----

    @Override
    public void changed(String path, EventType change) {
        Changes changes = new Changes();
        synchronized (this) {
            if (knowledge == Knowledge.FAR && path.equals(farAhead)) {
                look();
            } else if (isExact() && path.equals(directory)) {
                if (change == EventType.NodeChildrenChanged) {
                    look();
                } else if (change == EventType.NodeDeleted) {
                    know(Knowledge.NONE);
                }
            } else if (isExact()) {
                follow(path.substring(directory.length() + 1), change, changes);
            }
        }
        changes.report();
    }

    private void follow(String name, EventType change, Changes changes) {
        if (change == EventType.NodeCreated) {
            queue.created(name);
        } else if (change == EventType.NodeDeleted) {
            queue.deleted(name).map(waiting::get).ifPresent(changes.deleted::add);
            decide(changes);
        }
        if (waiting.isEmpty() && ++heardInVain > NEAR) {
            drop();
        }
    }

    private void decide(Changes changes) {
        for (QueuedNode node : queue.admitted(waiting.navigableKeySet())) {
            if (queue.covers(node)) {
                changes.granted.add(waiting.remove(node));
            }
        }
        if (!waiting.isEmpty()) {
            QueuedNode first = waiting.firstKey();
            if (!first.equals(near) && !goFar(Optional.of(queue))) {
                near = first;
            }
        } else if (!changes.granted.isEmpty()) {
            use();
            dropIfCrowded();
        }
    }

    @Override
    public String toString() {
        return "view of " + directory;
    }

    /** What to tell tickets once the monitor is left: listeners of tickets are not ours. */
    private static final class Changes {

        final List<TicketNode> granted = new ArrayList<>();
        final List<TicketNode> deleted = new ArrayList<>();

        void report() {
            EachAlone.forEach(granted, TicketNode::reportGrant);
            EachAlone.forEach(deleted, TicketNode::ownNodeDeleted);
        }
    }
}
