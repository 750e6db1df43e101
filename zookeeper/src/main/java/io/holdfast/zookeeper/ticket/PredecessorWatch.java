package io.holdfast.zookeeper.ticket;

import io.holdfast.Demand;
import io.holdfast.spi.Ticket;
import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.WatchHub;
import io.holdfast.zookeeper.tree.LockQueue;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Waits, for one queued ticket, until those ahead have left. Runs on ZooKeeper's event thread. Thread-safe.
 *
 * <p>An exclusive ticket has to see all ahead gone, a shared one all ahead that do not share: its blockers. It watches the
 * nearest, with getData, which leaves no watch behind if the node is gone already. When that one leaves and was the last blocker
 * in the listing, the lock is ours with no further request. Else somebody further ahead may or may not be there: a single one is
 * looked at (and watched) directly, of several a new listing tells. Permits depend on the sum of all ahead, so they watch the
 * queue as a whole, and list at every change.
 */
final class PredecessorWatch implements WatchHub.Listener {

    private final TicketNode own;
    private final Session session;
    private final Ticket ticket;
    private final String directory;
    private final boolean permits;

    // Guarded by this.
    private List<String> blockers = List.of();
    private @Nullable String watched;
    private boolean stopped;
    private boolean unanswered;

    PredecessorWatch(TicketNode own) {
        this.own = own;
        this.session = own.session();
        this.ticket = own.ticket();
        this.directory = own.node().directory();
        this.permits = ticket.demand() instanceof Demand.Permits;
    }

    void start(LockQueue seen) {
        if (permits) {
            // The listing that made us wait had no watch: somebody may have left since.
            list();
        } else {
            follow(seen);
        }
    }

    /** Looks again if the last look was lost with its connection. */
    void lookAgain() {
        synchronized (this) {
            if (!unanswered) {
                return;
            }
            unanswered = false;
        }
        list();
    }

    void stop() {
        String ahead;
        synchronized (this) {
            stopped = true;
            ahead = watched;
            watched = null;
        }
        if (ahead != null) {
            session.hub().unregister(path(ahead), this);
        }
        session.hub().unregister(directory, this);
    }

    @Override
    public void changed(String path, EventType change) {
        if (path.equals(directory)) {
            list();
        } else {
            String node = path.substring(directory.length() + 1);
            if (change == EventType.NodeDeleted) {
                blockerGone(node);
            } else if (isWatching(node)) {
                watch(node);
            }
        }
    }

    private void follow(LockQueue seen) {
        List<String> ahead =
                new ArrayList<>(seen.blockers(own.node().position(seen).orElseThrow()));
        synchronized (this) {
            blockers = ahead;
        }
        watch(ahead.get(ahead.size() - 1));
    }

    private void watch(String node) {
        synchronized (this) {
            if (!isWaiting()) {
                return;
            }
            watched = node;
        }
        session.hub().register(path(node), this);
        if (!isWatching(node)) {
            // It was stopped meanwhile, and may have looked for what to unregister before there was anything.
            session.hub().unregister(path(node), this);
            return;
        }
        session.requests().data(path(node), session.hub()).whenComplete((data, failure) -> {
            if (failure != null && Answers.code(failure) == Code.NOAUTH) {
                watchUnreadable(node);
            } else if (failure != null) {
                notWatched(node, Answers.code(failure));
            }
        });
    }

    /** A foreign node we may not read. That it exists anybody may know. */
    private void watchUnreadable(String node) {
        session.requests().exists(path(node), session.hub()).whenComplete((nothing, failure) -> {
            if (failure != null) {
                notWatched(node, Answers.code(failure));
            }
        });
    }

    private void notWatched(String node, Code why) {
        session.hub().unregister(path(node), this);
        if (why == Code.NONODE) {
            blockerGone(node);
        } else {
            notSeen(why);
        }
    }

    private void blockerGone(String node) {
        List<String> left;
        synchronized (this) {
            if (!isWaiting() || !node.equals(watched)) {
                return;
            }
            watched = null;
            blockers.remove(node);
            left = List.copyOf(blockers);
        }
        if (left.isEmpty()) {
            own.reportGrant();
        } else if (left.size() == 1) {
            watch(left.get(0));
        } else {
            list();
        }
    }

    private void list() {
        if (!isWaiting()) {
            return;
        }
        if (permits) {
            session.hub().register(directory, this);
        }
        session.requests().children(directory, permits ? session.hub() : null).whenComplete((nodes, failure) -> {
            if (failure == null) {
                listed(LockQueue.of(nodes));
            } else {
                session.hub().unregister(directory, this);
                notSeen(Answers.code(failure));
            }
        });
    }

    private void listed(LockQueue seen) {
        if (!isWaiting()) {
            return;
        }
        Integer position = own.node().position(seen).orElse(null);
        if (position == null) {
            own.ownNodeDeleted();
        } else if (position < seen.holders()) {
            session.hub().unregister(directory, this);
            own.reportGrant();
        } else if (!permits) {
            follow(seen);
        }
    }

    private void notSeen(Code why) {
        if (why == Code.SESSIONEXPIRED) {
            session.noteFailure(KeeperException.create(why));
        } else if (Answers.isUnknown(why)) {
            synchronized (this) {
                unanswered = true;
            }
        } else if (isWaiting()) {
            own.giveUp(why);
        }
    }

    @Override
    public String toString() {
        return "predecessors of " + ticket;
    }

    private String path(String node) {
        return directory + "/" + node;
    }

    private synchronized boolean isWatching(String node) {
        return isWaiting() && node.equals(watched);
    }

    private synchronized boolean isWaiting() {
        return !stopped && ticket.state() == Ticket.State.WAITING;
    }
}
