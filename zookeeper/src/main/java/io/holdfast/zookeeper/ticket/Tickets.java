package io.holdfast.zookeeper.ticket;

import io.holdfast.LossReason;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.Ticket;
import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.AsyncZooKeeper.Children;
import io.holdfast.zookeeper.session.Ensemble;
import io.holdfast.zookeeper.session.Failures;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.SessionOverException;
import io.holdfast.zookeeper.tree.LockTree;
import io.holdfast.zookeeper.tree.QueueView;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;

/** Lets tickets into queues, keeps them there and takes them out, on the caller's thread. Thread-safe. */
public final class Tickets {

    private static final int MOST_REMEMBERED = 1_000;

    private final Ensemble ensemble;
    private final LockTree tree;
    private final Sessions sessions;
    private final Directories directories;
    /** Locks found taken by the last try: the next one looks before it makes a node. */
    private final Set<String> lastSeenTaken = ConcurrentHashMap.newKeySet();

    public Tickets(Ensemble ensemble, LockTree tree, Sessions sessions) {
        this.ensemble = ensemble;
        this.tree = tree;
        this.sessions = sessions;
        this.directories = new Directories(tree.acl());
    }

    /**
     * A free lock takes one round trip: the node is made at once, and, by a try, removed if it is not admitted. A lock that
     * was found taken is looked at first, so that those who try again and again cost the servers a read each, not two writes.
     */
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        if (mode == Mode.TRY && lastSeenTaken.contains(ticket.name()) && !looksFree(ticket, deadline)) {
            return Optional.of(new Refusal("others are queued"));
        }
        while (true) {
            SessionTickets tickets = sessions.beginRequest(ticket.name(), ticket.ttl());
            try {
                return request(tickets, ticket, mode, deadline);
            } catch (SessionOverException e) {
                if (!e.mayTryAnother() || deadline.hasPassed()) {
                    throw e.about(ticket.name());
                }
            } finally {
                tickets.endRequest();
            }
        }
    }

    private Optional<Refusal> request(SessionTickets tickets, Ticket ticket, Mode mode, Deadline deadline)
            throws SessionOverException {
        TicketNode node = join(tickets, ticket, deadline);
        if (mode == Mode.TRY) {
            rememberTaken(ticket.name(), !node.isAdmitted());
            if (!node.isAdmitted()) {
                remove(node, deadline);
                return Optional.of(new Refusal("others are ahead in the queue"));
            }
        }
        node.startReporting();
        return Optional.empty();
    }

    private TicketNode join(SessionTickets tickets, Ticket ticket, Deadline deadline) throws SessionOverException {
        TicketNode node = new TicketNode(tickets, ticket, tree, directories);
        ticket.attach(node);
        tickets.add(node);
        boolean joined = false;
        try {
            node.join(deadline);
            joined = true;
            return node;
        } catch (KeeperException e) {
            throw node.node().mayExist()
                    ? Failures.of(ticket.name(), ensemble, e)
                    : Failures.refused(ticket.name(), ensemble, e);
        } finally {
            if (!joined && node.node().mayExist()) {
                tickets.abandonAndRemove(node);
            } else if (!joined) {
                tickets.forget(node);
            }
        }
    }

    private boolean looksFree(Ticket ticket, Deadline deadline) {
        Session session = sessions.awaitAny(ticket.name(), deadline);
        String directory = tree.directory(ticket.name());
        try {
            session.requests().sync(directory);
            Children children = Answers.await(session.requests().children(directory, null), deadline);
            return QueueView.of(children.names()).wouldAdmit(ticket.demand());
        } catch (KeeperException e) {
            session.noteFailure(e);
            throw Failures.refused(ticket.name(), ensemble, e);
        }
    }

    private void rememberTaken(String lock, boolean taken) {
        if (!taken) {
            lastSeenTaken.remove(lock);
            return;
        }
        if (lastSeenTaken.size() >= MOST_REMEMBERED) {
            lastSeenTaken.clear();
        }
        lastSeenTaken.add(lock);
    }

    /** One write per session keeps all that lives by it. */
    public void renew(List<Ticket> tickets, Deadline deadline) {
        Map<Boolean, List<Ticket>> known = tickets.stream()
                .collect(Collectors.partitioningBy(ticket -> nodeOf(ticket).isPresent()));
        known.get(false).forEach(Tickets::reportUnknown);
        Renewal.renewAll(known.get(true), deadline);
    }

    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        nodeOf(ticket)
                .ifPresentOrElse(node -> extend(node.session(), ticket, ttl, deadline), () -> reportUnknown(ticket));
    }

    private static void extend(Session session, Ticket ticket, Duration ttl, Deadline deadline) {
        if (ttl.compareTo(session.longestAsked()) > 0) {
            throw new UnsupportedLockException(
                    ticket.name(),
                    "its ttl is the timeout of its ZooKeeper session, " + session.ttl()
                            + ", and cannot grow; ask for the lock with a longer ttl");
        }
        new Renewal(session, List.of(ticket)).await(deadline).ifPresent(failure -> {
            throw failure;
        });
    }

    private static void reportUnknown(Ticket ticket) {
        ticket.gone(LossReason.GONE, "it was not asked for here");
    }

    /** Removes whatever a ticket may have left. Whether there was something, neither gone with its session nor deleted by others. */
    public boolean remove(Ticket ticket, Deadline deadline) {
        return leftBy(ticket).map(node -> remove(node, deadline)).orElse(false);
    }

    /** As {@link #remove}, of one that waited in vain: it leaves together with all others of its session that did. */
    public boolean withdraw(Ticket ticket, Deadline deadline) {
        Optional<TicketNode> left = leftBy(ticket);
        left.map(TicketNode::tickets).ifPresent(SessionTickets::removeGivenUp);
        return left.map(node -> remove(node, deadline)).orElse(false);
    }

    private static Optional<TicketNode> leftBy(Ticket ticket) {
        return nodeOf(ticket).filter(node -> node.tickets().has(node));
    }

    private boolean remove(TicketNode node, Deadline deadline) {
        Session session = node.session();
        // Whatever becomes of this, the session goes on trying until it is gone.
        node.tickets().abandon(node);
        while (true) {
            try {
                session.awaitConnected(node.lock(), deadline);
                return Answers.await(node.tickets().remove(node), deadline);
            } catch (SessionOverException e) {
                return false;
            } catch (KeeperException e) {
                session.noteFailure(e);
                if (!Answers.mayAskAgain(e, deadline)) {
                    throw Failures.of(node.lock(), ensemble, e);
                }
            }
        }
    }

    private static Optional<TicketNode> nodeOf(Ticket ticket) {
        return ticket.handle(TicketNode.class);
    }
}
