package io.holdfast.zookeeper.ticket;

import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.EachAlone;
import io.holdfast.zookeeper.session.Ensemble;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.Session.Purpose;
import io.holdfast.zookeeper.session.SessionOverException.Ending;
import io.holdfast.zookeeper.tree.QueueView;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException;

/**
 * The nodes of this client's tickets that live by one session: those of live tickets, and those that nobody wants any more and
 * that may still be there. Thread-safe.
 */
final class SessionTickets implements Session.User {

    private static final Logger LOG = System.getLogger(SessionTickets.class.getName());

    private final Session session;
    private final StoreContext context;
    private final long sweepNanos;
    private final AtomicInteger requests = new AtomicInteger();
    private final Set<TicketNode> live = ConcurrentHashMap.newKeySet();
    /** Since when nobody wants them. */
    private final Map<TicketNode, Long> unwanted = new ConcurrentHashMap<>();
    /** Of the locks some of these wait for, or join beside many, or did lately, by directory. */
    private final Map<String, LockWaiters> views = new ConcurrentHashMap<>();

    private final LastTurns turns = new LastTurns();

    /** What is being removed from a session that goes on without us. */
    private final Map<TicketNode, CompletableFuture<Boolean>> leaving = new ConcurrentHashMap<>();

    private volatile long nextSweepNanos;

    SessionTickets(Ensemble ensemble, StoreContext context, Duration ttl, Purpose purpose) {
        this.session = new Session(ensemble, context, ttl, purpose, this);
        this.context = context;
        this.sweepNanos = ttl.toNanos() / 3;
        this.nextSweepNanos = context.time().nanoTime() + sweepNanos;
    }

    Session session() {
        return session;
    }

    /** A request is about to use the session, and keeps it from being closed as idle. */
    void beginRequest() {
        requests.incrementAndGet();
    }

    void endRequest() {
        requests.decrementAndGet();
    }

    @Override
    public boolean isIdle() {
        return requests.get() == 0 && live.isEmpty() && unwanted.isEmpty() && views.isEmpty();
    }

    /** To be called before the node is asked for, so that whatever happens to the session reaches it. */
    void add(TicketNode node) {
        live.add(node);
        session.wake();
    }

    /** Whether it is there for its ticket, neither abandoned nor forgotten. */
    boolean isLive(TicketNode node) {
        return live.contains(node);
    }

    /** Whether there may be something of it at the servers. */
    boolean has(TicketNode node) {
        return live.contains(node) || unwanted.containsKey(node);
    }

    /** Nothing of it is left at the servers. */
    void forget(TicketNode node) {
        live.remove(node);
        unwanted.remove(node);
        node.stopWatching();
    }

    /** Nobody wants it any more: it is looked for and removed until nothing is left and nothing can appear. */
    void abandon(TicketNode node) {
        unwanted.putIfAbsent(node, context.time().nanoTime());
        live.remove(node);
        node.stopWatching();
        if (session.isEnded()) {
            unwanted.remove(node);
        }
    }

    /** Tries once to remove it; completes with whether there was something when nothing is left. */
    CompletableFuture<Boolean> remove(TicketNode node) {
        return node.node().delete().whenComplete((existed, failure) -> {
            if (failure == null) {
                forget(node);
            }
        });
    }

    /** Abandons it and removes it, now if there is a connection, else with the next sweep. Does not wait. */
    void abandonAndRemove(TicketNode node) {
        abandon(node);
        if (session.isReachable() && !session.isEnded()) {
            removeQuietly(node);
        }
    }

    /** The engine asks for one after the other, on one thread; sent back to back they cost one round trip. */
    void removeGivenUp() {
        live.stream().filter(TicketNode::isGivenUp).forEach(this::abandonAndRemove);
    }

    private void removeQuietly(TicketNode node) {
        remove(node).whenComplete((existed, failure) -> {
            if (failure != null) {
                session.noteFailure(failure);
            }
        });
    }

    // ---- waiting ----

    Optional<LockWaiters> view(String directory) {
        return Optional.ofNullable(views.get(directory));
    }

    LastTurns turns() {
        return turns;
    }

    /** From now on a node is granted when its turn comes. */
    void await(TicketNode node, Optional<QueueView> seen) {
        boolean added;
        do {
            added = viewToBe(node.node().directory()).add(node, seen);
        } while (!added);
        if (!isLive(node)) {
            // It was given up meanwhile, perhaps before there was a view to take it from.
            node.stopWatching();
        }
    }

    /** A listing had to tell that a node holds the lock, with many others. */
    void joinedByListing(String directory) {
        // To a client not ours the servers would go on sending events when the view is given up.
        if (session.ensemble().connector().isOwn()) {
            viewToBe(directory).joinedByListing();
        }
    }

    private LockWaiters viewToBe(String directory) {
        return views.computeIfAbsent(directory, path -> new LockWaiters(this, path));
    }

    void dropped(String directory, LockWaiters view) {
        views.remove(directory, view);
    }

    /** Comes with heartbeats. */
    void checkViews() {
        EachAlone.forEach(views.values(), LockWaiters::check);
    }

    long nanoTime() {
        return context.time().nanoTime();
    }

    // ---- the session ----

    @Override
    public void connected() {
        EachAlone.forEach(views.values(), LockWaiters::connected);
    }

    @Override
    public void disconnected() {
        EachAlone.forEach(views.values(), LockWaiters::disconnected);
        EachAlone.forEach(live, TicketNode::watchLost);
    }

    @Override
    public void ended(String detail) {
        EachAlone.forEach(views.values(), LockWaiters::drop);
        EachAlone.forEach(live, node -> node.sessionEnded(detail));
        if (session.goesOnWithoutUs()) {
            Stream.concat(live.stream(), unwanted.keySet().stream())
                    .filter(node -> node.node().mayExist())
                    .forEach(node -> leaving.put(node, node.node().settle()));
        }
        live.clear();
        unwanted.clear();
    }

    /** Says what could not be removed from a session that goes on without us. */
    void awaitLeft(Deadline deadline) {
        leaving.forEach((node, left) -> {
            try {
                Answers.await(left, deadline);
            } catch (KeeperException.SessionExpiredException e) {
                // It went with the session.
            } catch (KeeperException e) {
                LOG.log(
                        Level.WARNING,
                        () -> "The " + node + " could not be removed yet (" + e.code()
                                + "): until it is, or its session" + " ends, nobody else gets lock '" + node.lock()
                                + "'");
            }
        });
    }

    @Override
    public void tend(long nowNanos) {
        EachAlone.forEach(live, node -> node.tend(nowNanos));
        EachAlone.forEach(views.values(), view -> view.tend(nowNanos));
        if (nowNanos - nextSweepNanos >= 0) {
            nextSweepNanos = nowNanos + sweepNanos;
            sweep(nowNanos);
        }
    }

    private void sweep(long nowNanos) {
        for (Map.Entry<TicketNode, Long> entry : unwanted.entrySet()) {
            TicketNode node = entry.getKey();
            if (nowNanos - entry.getValue() > session.ttl().toNanos()
                    && session.ensemble().connector().isOwn()) {
                session.end(
                        Ending.EXPIRED,
                        "given up, because what a request for lock '" + node.lock()
                                + "' may have left could not be removed within the ttl");
                return;
            }
            if (session.isReachable()) {
                removeQuietly(node);
            }
        }
    }
}
