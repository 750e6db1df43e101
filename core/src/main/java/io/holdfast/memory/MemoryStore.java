package io.holdfast.memory;

import io.holdfast.LockView;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import io.holdfast.spi.support.EarliestAlarm;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Locks in this JVM's memory: {@code memory:name} is shared by all clients that name it, {@code memory:} is one
 * client's own.
 *
 * <p>Thread-safe. Leases expire by the clock, the queue is first come, first served.
 */
public final class MemoryStore implements DowngradingStore, TokenRaisingStore, AdministeredStore {

    private final MemorySpace space;
    private final StoreContext context;
    /** Locks that tickets of this client wait for: looked at when their first entry expires. */
    private final Set<String> waitedFor = ConcurrentHashMap.newKeySet();

    private final EarliestAlarm nextExpiry;

    private MemoryStore(MemorySpace space, StoreContext context) {
        this.space = space;
        this.context = context;
        this.nextExpiry = new EarliestAlarm(context.timer(), this::expire);
    }

    /** The store of that name, made when first named. */
    public static StoreFactory named(String name) {
        return context -> new MemoryStore(MemorySpace.named(name), context);
    }

    /** A store of its own, which no other client can reach. */
    public static StoreFactory unnamed() {
        return context -> new MemoryStore(new MemorySpace(), context);
    }

    @Override
    public StoreTraits traits() {
        return StoreTraits.of("memory").withTtls(Duration.ofMillis(10), Duration.ofDays(36500));
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        long now = now();
        Optional<Refusal> refusal = space.request(ticket, mode, context, now);
        if (ticket.isQueued()) {
            waitedFor.add(ticket.name());
            space.expire(ticket.name(), context, now).ifPresent(left -> nextExpiry.at(now + left.toNanos()));
        }
        return refusal;
    }

    private void expire() {
        long now = now();
        for (String name : waitedFor) {
            // Before the look: who begins to wait after it adds the name again.
            waitedFor.remove(name);
            space.expire(name, context, now).ifPresent(left -> {
                waitedFor.add(name);
                nextExpiry.at(now + left.toNanos());
            });
        }
    }

    @Override
    public void renew(List<Ticket> tickets, Deadline deadline) {
        tickets.forEach(ticket -> space.extend(ticket, ticket.ttl(), now()));
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        space.extend(ticket, ttl, now());
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        return space.release(ticket, linger, now());
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        return space.withdraw(ticket, now());
    }

    @Override
    public void downgrade(Ticket exclusive, Deadline deadline) {
        space.downgrade(exclusive, now());
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        space.raise(floor);
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        return space.forceRelease(name, now());
    }

    /** Nothing to remove: all locks of a space share one counter. */
    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return 0;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return space.view(name, now());
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        return space.views(prefix, after, limit, now());
    }

    @Override
    public void ping(Deadline deadline) {}

    @Override
    public void close() {}

    private long now() {
        return context.time().nanoTime();
    }
}
