package io.holdfast.zookeeper;

import io.holdfast.LockView;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.Ensemble;
import io.holdfast.zookeeper.session.Failures;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.ticket.Sessions;
import io.holdfast.zookeeper.ticket.Tickets;
import io.holdfast.zookeeper.tree.LockTree;
import io.holdfast.zookeeper.tree.QueueView;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;

/** Keeps each lock's queue as nodes in ZooKeeper's tree: a door to the rooms where that is done. Thread-safe. */
final class ZooKeeperStore implements AdministeredStore {

    /** The name in messages about no lock in particular. */
    private static final String ALL_LOCKS = "*";

    private final LockTree tree;
    private final StoreTraits traits;
    private final Sessions sessions;
    private final Tickets tickets;
    private final LockViews views;

    ZooKeeperStore(Ensemble ensemble, LockTree tree, StoreTraits traits, StoreContext context) {
        this.tree = tree;
        this.traits = traits;
        this.sessions = new Sessions(ensemble, context);
        this.tickets = new Tickets(ensemble, tree, sessions);
        this.views = new LockViews(tree);
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        return tickets.request(ticket, mode, deadline);
    }

    @Override
    public void renew(List<Ticket> those, Deadline deadline) {
        tickets.renew(those, deadline);
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        tickets.extend(ticket, ttl, deadline);
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        return tickets.remove(ticket, deadline) ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        return tickets.withdraw(ticket, deadline) ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return views.view(sessions.awaitAny(name, deadline), name, deadline);
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        return views.views(sessions.awaitAny(ALL_LOCKS, deadline), prefix, after, limit, deadline);
    }

    /** A server that has lost its quorum goes on answering reads, so the question is a write. */
    @Override
    public void ping(Deadline deadline) {
        Session session = sessions.awaitAny(ALL_LOCKS, deadline);
        try {
            Answers.await(session.prove(), deadline);
        } catch (KeeperException e) {
            session.noteFailure(e);
            throw Failures.ofWholeStore(session.ensemble(), e);
        }
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        Session session = sessions.awaitAny(name, deadline);
        String directory = tree.directory(name);
        try {
            session.requests().sync(directory);
            QueueView queue = QueueView.of(Answers.await(session.requests().children(directory, null), deadline)
                    .names());
            List<CompletableFuture<Boolean>> deletions = queue.holders().stream()
                    .map(holder -> session.requests().delete(directory + "/" + holder.name()))
                    .toList();
            int released = 0;
            for (CompletableFuture<Boolean> deletion : deletions) {
                released += Answers.await(deletion, deadline) ? 1 : 0;
            }
            return released;
        } catch (KeeperException e) {
            session.noteFailure(e);
            throw Failures.of(name, session.ensemble(), e);
        }
    }

    /** There is nothing to remove: tokens are transaction numbers, and empty directories are removed by the servers. */
    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return 0;
    }

    @Override
    public void close() {
        sessions.close();
    }
}
