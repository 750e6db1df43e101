package io.holdfast.memory;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.spi.Admission;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The holders and waiters of one lock in order of arrival; the holders are those the rule admits, so a prefix.
 *
 * <p>Not thread-safe: used inside one atomic step of {@link MemorySpace}. Tickets are told what became of them after that step,
 * through {@code reports}.
 */
final class MemoryQueue {

    private final AtomicLong lastToken;
    private final List<Entry> entries = new ArrayList<>(2);

    MemoryQueue(AtomicLong lastToken) {
        this.lastToken = lastToken;
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** Whether a newcomer would be admitted at once. */
    boolean admits(Demand newcomer) {
        Admission admission = new Admission();
        for (Entry entry : entries) {
            if (!admission.admit(entry.demand)) {
                return false;
            }
        }
        return admission.admit(newcomer);
    }

    void grantNow(Ticket ticket, StoreContext client, long now, Consumer<Runnable> reports) {
        Entry entry = new Entry(ticket, client, now);
        entries.add(entry);
        entry.hold(lastToken.incrementAndGet(), now);
        reports.accept(() -> ticket.granted(entry.token, ticket.ttl(), now));
    }

    void append(Ticket ticket, StoreContext client, long now, Consumer<Runnable> reports) {
        entries.add(new Entry(ticket, client, now));
        reports.accept(() -> ticket.waiting(ticket.ttl(), now));
    }

    /** Drops what has expired and grants to whoever the rule admits now. */
    void letIn(long now, Consumer<Runnable> reports) {
        entries.removeIf(entry -> entry.expiresNanos - now <= 0);
        Admission admission = new Admission();
        for (Entry entry : entries) {
            if (!admission.admit(entry.demand)) {
                return;
            }
            if (entry.state == State.WAITING) {
                entry.hold(lastToken.incrementAndGet(), now);
                // Without a base: the waiter may hear of it much later, so its last answered request counts.
                reports.accept(() -> entry.ticket.granted(entry.token));
            }
        }
    }

    void extend(Ticket ticket, Duration ttl, long now, Consumer<Runnable> reports) {
        Entry entry = find(ticket.owner());
        if (entry == null) {
            reports.accept(() -> ticket.gone(LossReason.GONE, "it expired or was taken away"));
            return;
        }
        entry.lastAtLeast(now + ttl.toNanos());
        if (entry.state == State.WAITING) {
            reports.accept(() -> ticket.waiting(ttl, now));
        } else {
            reports.accept(() -> ticket.extended(ttl, now));
        }
    }

    boolean release(Ticket ticket, Duration linger, long now) {
        Entry entry = find(ticket.owner());
        if (entry == null || entry.state == State.WAITING) {
            return false;
        }
        if (linger.isZero()) {
            entries.remove(entry);
        } else {
            entry.linger(now + linger.toNanos());
        }
        return true;
    }

    boolean remove(OwnerId owner) {
        return entries.removeIf(entry -> entry.isOf(owner));
    }

    void downgrade(Ticket ticket, long now, Consumer<Runnable> reports) {
        Entry entry = find(ticket.owner());
        if (entry == null || entry.state == State.WAITING) {
            reports.accept(() -> ticket.gone(LossReason.GONE, "the store no longer knows it"));
            return;
        }
        entry.demand = Demand.shared();
        entry.lastAtLeast(now + ticket.ttl().toNanos());
        reports.accept(ticket::downgraded);
    }

    /** Returns how many there were. */
    int removeHolders(Consumer<Runnable> reports) {
        List<Entry> holders =
                entries.stream().filter(entry -> entry.state != State.WAITING).toList();
        entries.removeAll(holders);
        holders.forEach(entry ->
                reports.accept(() -> entry.ticket.gone(LossReason.FORCED, "an administrator released it by force")));
        return holders.size();
    }

    boolean hasWaiterOf(StoreContext client) {
        return entries.stream().anyMatch(entry -> entry.state == State.WAITING && entry.client == client);
    }

    /** Until the first entry, holder or waiter, expires unless renewed. */
    Optional<Duration> timeLeftOfFirst(long now) {
        return entries.stream()
                .map(entry -> entry.expiresNanos - now)
                .min(Long::compare)
                .map(left -> Duration.ofNanos(Math.max(0, left)));
    }

    LockView view(String name, long now) {
        List<LockView.Holder> holders = new ArrayList<>();
        List<LockView.Waiter> waiters = new ArrayList<>();
        for (Entry entry : entries) {
            Optional<LockView.Origin> origin = Optional.of(entry.ticket.origin());
            Optional<Instant> since = Optional.of(Instant.now().minusNanos(now - entry.sinceNanos));
            if (entry.state == State.WAITING) {
                waiters.add(new LockView.Waiter(origin, entry.demand, since));
            } else {
                Optional<Duration> left = Optional.of(Duration.ofNanos(entry.expiresNanos - now));
                LockView.Holder holder =
                        new LockView.Holder(origin, entry.demand, Optional.of(entry.token), since, left);
                holders.add(entry.state == State.LINGERING ? holder.lingering() : holder);
            }
        }
        return new LockView(name, holders, waiters);
    }

    private @Nullable Entry find(OwnerId owner) {
        for (Entry entry : entries) {
            if (entry.isOf(owner)) {
                return entry;
            }
        }
        return null;
    }

    private enum State {
        WAITING,
        HOLDING,
        LINGERING
    }

    /** One holder or waiter. */
    private static final class Entry {

        private final Ticket ticket;
        private final StoreContext client;
        private Demand demand;
        private State state = State.WAITING;
        private long token;
        private long sinceNanos;
        private long expiresNanos;

        Entry(Ticket ticket, StoreContext client, long now) {
            this.ticket = ticket;
            this.client = client;
            this.demand = ticket.demand();
            this.sinceNanos = now;
            this.expiresNanos = now + ticket.ttl().toNanos();
        }

        /** One that lingers is nobody's. */
        boolean isOf(OwnerId owner) {
            return state != State.LINGERING && ticket.owner().equals(owner);
        }

        void hold(long newToken, long now) {
            state = State.HOLDING;
            token = newToken;
            sinceNanos = now;
            lastAtLeast(now + ticket.ttl().toNanos());
        }

        /** Never shortens: another request may have extended it whose clock was read later. */
        void lastAtLeast(long untilNanos) {
            if (untilNanos - expiresNanos > 0) {
                expiresNanos = untilNanos;
            }
        }

        void linger(long untilNanos) {
            state = State.LINGERING;
            expiresNanos = untilNanos;
        }
    }
}
