package io.holdfast.testing;

import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** One client's way to a memory store, which can be cut, and its tickets, which can be taken away. Thread-safe. */
final class TestStore implements DowngradingStore, TokenRaisingStore, AdministeredStore {

    private final MemoryStore inner;
    private final StoreContext context;
    /** When each was last asked for or renewed, whether or not that reached the store. */
    private final Map<Ticket, Long> tickets = new ConcurrentHashMap<>();

    private final AtomicInteger underWay = new AtomicInteger();
    private volatile boolean down;

    TestStore(String space, StoreContext context) {
        this.inner = (MemoryStore) MemoryStore.named(space).open(context);
        this.context = context;
    }

    void setDown(boolean isDown) {
        down = isDown;
    }

    /** Takes away what is held and fits. Returns how many there were. */
    int lose(String name, Predicate<Ticket> which, Deadline deadline) {
        int lost = 0;
        for (Ticket ticket : tickets.keySet()) {
            if (ticket.name().equals(name) && ticket.state() == Ticket.State.HELD && which.test(ticket)) {
                // Its holder is told before anybody else can get the lock.
                ticket.gone(LossReason.GONE, "the test took it away");
                inner.withdraw(ticket, deadline);
                tickets.remove(ticket);
                lost++;
            }
        }
        return lost;
    }

    /** Whether the ticket of a lease is there still: of a loss its holder, and who else wants to know, is told later. */
    boolean isHeld(String name, long usersToken) {
        return tickets.keySet().stream()
                .anyMatch(ticket -> ticket.name().equals(name)
                        && ticket.state() == Ticket.State.HELD
                        && grantOf(usersToken).test(ticket));
    }

    static Predicate<Ticket> grantOf(long usersToken) {
        return ticket -> Tokens.ofUsers(ticket.storeToken(), 0) == usersToken - usersToken % Tokens.ofUsers(1, 0);
    }

    boolean isAsked() {
        return underWay.get() > 0;
    }

    /** Whether a ticket should have been renewed by now; renewals come after a third of the ttl at the latest. */
    boolean hasOverdueTicket(Set<Ticket> notRenewed) {
        long now = context.time().nanoTime();
        tickets.keySet().removeIf(ticket -> ticket.state() == Ticket.State.ENDED);
        return tickets.keySet().stream().anyMatch(ticket -> !notRenewed.contains(ticket) && isOverdue(ticket, now));
    }

    void addOverdueTo(Set<Ticket> found) {
        long now = context.time().nanoTime();
        tickets.keySet().stream().filter(ticket -> isOverdue(ticket, now)).forEach(found::add);
    }

    /** The times at which tickets are overdue. */
    LongStream overdueNanos(Set<Ticket> notRenewed) {
        return tickets.keySet().stream()
                .filter(ticket -> ticket.state() != Ticket.State.ENDED && !notRenewed.contains(ticket))
                .mapToLong(this::overdueNanos);
    }

    private boolean isOverdue(Ticket ticket, long now) {
        return now - overdueNanos(ticket) >= 0 && ticket.endNanos() - now > 0;
    }

    private long overdueNanos(Ticket ticket) {
        long asked = tickets.getOrDefault(ticket, ticket.baseNanos());
        return Math.max(0, asked - ticket.baseNanos())
                + ticket.baseNanos()
                + ticket.ttl().toNanos() / 5 * 2;
    }

    @Override
    public StoreTraits traits() {
        return inner.traits();
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        tickets.put(ticket, context.time().nanoTime());
        return send(ticket.name(), () -> inner.request(ticket, mode, deadline));
    }

    @Override
    public void renew(List<Ticket> renewed, Deadline deadline) {
        long now = context.time().nanoTime();
        renewed.forEach(ticket -> tickets.computeIfPresent(ticket, (known, before) -> now));
        send(renewed.get(0).name(), () -> {
            inner.renew(renewed, deadline);
            return true;
        });
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        send(ticket.name(), () -> {
            inner.extend(ticket, ttl, deadline);
            return true;
        });
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        tickets.remove(ticket);
        return send(ticket.name(), () -> inner.release(ticket, linger, deadline));
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        tickets.remove(ticket);
        return send(ticket.name(), () -> inner.withdraw(ticket, deadline));
    }

    @Override
    public void downgrade(Ticket exclusive, Deadline deadline) {
        send(exclusive.name(), () -> {
            inner.downgrade(exclusive, deadline);
            return true;
        });
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        send(name, () -> {
            inner.raise(name, floor, deadline);
            return true;
        });
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        return send(name, () -> inner.forceRelease(name, deadline));
    }

    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return send("*", () -> inner.prune(idleFor, deadline));
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return send(name, () -> inner.view(name, deadline));
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        return send("*", () -> inner.views(prefix, after, limit, deadline));
    }

    @Override
    public void ping(Deadline deadline) {
        send("*", () -> {
            inner.ping(deadline);
            return true;
        });
    }

    @Override
    public void close() {
        inner.close();
    }

    private <T> T send(String name, Supplier<T> request) {
        if (down) {
            throw new StoreUnavailableException(name, "the test took the store down");
        }
        underWay.incrementAndGet();
        try {
            return request.get();
        } finally {
            underWay.decrementAndGet();
        }
    }
}
