package io.holdfast.zookeeper.ticket;

import io.holdfast.spi.StoreContext;
import io.holdfast.zookeeper.session.EachAlone;
import io.holdfast.zookeeper.session.Ensemble;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.Session.Purpose;
import io.holdfast.zookeeper.session.SessionOverException.Ending;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The nodes of this client's tickets that live by one session: those of live tickets, and those that nobody wants any more and
 * that may still be there. Thread-safe.
 */
final class SessionTickets implements Session.User {

    private final Session session;
    private final StoreContext context;
    private final long sweepNanos;
    private final AtomicInteger requests = new AtomicInteger();
    private final Set<TicketNode> live = ConcurrentHashMap.newKeySet();
    /** Since when nobody wants them. */
    private final Map<TicketNode, Long> unwanted = new ConcurrentHashMap<>();

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
        return requests.get() == 0 && live.isEmpty() && unwanted.isEmpty();
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

    private void removeQuietly(TicketNode node) {
        remove(node).whenComplete((existed, failure) -> {
            if (failure != null) {
                session.noteFailure(failure);
            }
        });
    }

    @Override
    public void connected() {
        EachAlone.forEach(live, TicketNode::lookAgain);
    }

    @Override
    public void ended(String detail) {
        EachAlone.forEach(live, node -> node.sessionEnded(detail));
        live.clear();
        unwanted.clear();
    }

    @Override
    public void tend(long nowNanos) {
        EachAlone.forEach(live, node -> node.tend(nowNanos));
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
