package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.session.TicketKey;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.support.EarliestAlarm;
import java.time.Duration;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/*
 * Where the waiting tickets of one client for one lock learn that they are admitted.
 *
 * Near: the client's first ticket is among the first 64. It keeps an exact view of the queue by one standing watch on all of the
 * lock's keys and one listing: the watch opens "from now on"; when it is open the queue is read; from then on what is told with a
 * revision later than the view's changes the view, whole revisions at a time, and after each it is judged who may hold. A ticket is
 * granted when its create revision is in the view and the rule admits it; no request is made.
 *
 * Far: it watches a ticket at least 64 ahead, one that must leave first, merely to know when to look. Far tickets are never granted, so
 * the switch has no race. So however long the queue, the news of a release reach 64 clients, few more, and whom it admits.
 *
 * What could go wrong:
 *
 *   - Granted on what is not the whole queue: my own ticket is told before the listing is there, and looks like the first. Nothing is
 *     judged between the opening of a watch, which empties the view, and its listing. Events that come before the listing's
 *     answer are kept aside and applied to it.
 *   - An event comes twice, or again from a member that lags behind (a watch opened there repeats what the listing, which
 *     is of the leader's word, has seen): it is not newer than the view.
 *   - The ticket ahead and mine go at one revision (one lease, revoked): judged when both have gone. I am not in the view: gone.
 *   - My ticket is written and the event of it has not come yet: its create revision is later than the view's, so it waits for it. The
 *     event comes before the answer to the request that wrote it: it is judged when it joins.
 *   - A listing is answered when its watch has been replaced: it is dropped, the new watch has its own.
 *   - An event is lost: a renewal reads the first ticket of the view; if that is not what the view says, the queue is listed again.
 *     The same if a waiting ticket is not in the view. If the watch does not open at all, a renewal lists too: what a listing admits
 *     may hold, whatever comes after it, since nobody ever comes ahead of a ticket.
 *   - The one 64 ahead holds the lock beside others and never leaves, as readers and permits may: see FarAhead. Where nobody must leave
 *     before it is our turn, as among permits, a renewal looks again.
 *   - The first ticket gives up, and the next asks for something else: who had to leave before the one need not leave before the other.
 *     The look was for the first, and is made again for the next.
 *   - Somebody joins while the last waiter leaves: the queue is closed a little after that, under its monitor, and whoever comes later
 *     gets another.
 *
 * Tickets are told outside the monitor.
 */
final class LockWaiters implements TicketKey.Waiting {

    /** So many clients hear of every release. */
    static final int NEAR = 64;

    /** Beyond this a near client turns far; more than NEAR, so that it does not turn to and fro. */
    static final int NO_LONGER_NEAR = 2 * NEAR;

    /** A view stays open for whoever waits again soon, and hears every release meanwhile. */
    private static final long IDLE_NANOS = Duration.ofMillis(50).toNanos();

    final ByteString start; // of all keys of the lock
    final EtcdClient client;
    final Executor background;
    private final Consumer<LockWaiters> closing;
    private final EarliestAlarm idle;

    final NavigableMap<Long, TicketKey> waiting = new TreeMap<>(); // by create revision; guarded by this
    private @Nullable QueueWatch sight; // guarded by this
    private boolean closed; // guarded by this
    private long usedNanos; // guarded by this

    /** @param closing called when nobody waits any more */
    LockWaiters(ByteString start, EtcdClient client, StoreContext context, Consumer<LockWaiters> closing) {
        this.start = start;
        this.client = client;
        this.background = context.background();
        this.closing = closing;
        this.idle = new EarliestAlarm(context.timer(), this::closeIfIdle);
    }

    /**
     * Takes in a ticket that is written. False if this is closed.
     *
     * @param position how many tickets there were when it was written, itself among them; 0 if {@link #seen} told
     */
    boolean join(TicketKey key, long position) {
        List<Runnable> news;
        synchronized (this) {
            if (closed) {
                return false;
            }
            waiting.put(key.revision(), key);
            if (sight == null && position <= NEAR) {
                seeNear();
            } else if (sight == null) {
                seeFar();
            }
            news = sight == null ? List.of() : sight.joined(key);
        }
        news.forEach(Runnable::run);
        return true;
    }

    @Override
    public synchronized void leave(TicketKey key) {
        if (waiting.remove(key.revision(), key)) {
            if (sight != null) {
                sight.left();
            }
            closeIfIdleLater();
        }
    }

    /** How many tickets are seen. If there are any, a new one will be told when it is admitted. */
    synchronized int seen() {
        return view().map(QueueView::size).orElse(0);
    }

    /** Whether a slot is taken, as far as is known. */
    synchronized boolean isTaken(ByteString slot) {
        return view().filter(view -> view.isTaken(slot)).isPresent();
    }

    private Optional<QueueView> view() {
        return sight == null ? Optional.empty() : sight.view();
    }

    @Override
    public synchronized Optional<KeyValue> reliesOn() {
        return sight == null ? Optional.empty() : sight.reliesOn();
    }

    @Override
    public synchronized void check(TicketKey waiter, Optional<KeyValue> reliedOn, Optional<KeyValue> found) {
        if (sight == null || sight.isAsking() || waiting.get(waiter.revision()) != waiter) {
            return;
        }
        // A revision changes a key once, so it says which ticket it is and as of when.
        boolean changed = !reliedOn.map(KeyValue::getModRevision).equals(found.map(KeyValue::getModRevision));
        // It may just have been told so.
        boolean missed = changed && reliedOn.equals(sight.reliesOn());
        if (missed || !sight.covers(waiter)) {
            sight.askAgain();
        }
    }

    synchronized void closeIfIdleLater() {
        usedNanos = client.nanoTime();
        if (waiting.isEmpty()) {
            idle.at(usedNanos + IDLE_NANOS);
        }
    }

    private void closeIfIdle() {
        synchronized (this) {
            long idleUntil = usedNanos + IDLE_NANOS;
            if (!waiting.isEmpty()) {
                return;
            }
            if (idleUntil - client.nanoTime() > 0) {
                idle.at(idleUntil);
                return;
            }
            closed = true;
            see(null);
        }
        closing.accept(this);
    }

    // What the watches use, under the monitor.

    boolean isSeenBy(QueueWatch watch) {
        return sight == watch;
    }

    void seeNear() {
        see(new NearWatch(this));
    }

    void seeFar() {
        see(new FarWatch(this));
    }

    private void see(@Nullable QueueWatch next) {
        if (sight != null) {
            sight.close();
        }
        sight = next;
        if (next != null) {
            next.open();
        }
    }

    @Override
    public String toString() {
        return start.toStringUtf8();
    }
}
