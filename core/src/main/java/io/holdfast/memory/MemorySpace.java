package io.holdfast.memory;

import io.holdfast.LockView;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One named set of in-memory locks.
 *
 * <p>Every operation on a lock is one {@code compute} on its entry in the map, which makes it atomic and forgets locks
 * nobody holds or waits for. Tickets are told after it. Thread-safe.
 */
final class MemorySpace {

    private static final ConcurrentHashMap<String, MemorySpace> NAMED = new ConcurrentHashMap<>();

    private final ConcurrentHashMap<String, MemoryQueue> queues = new ConcurrentHashMap<>();
    private final AtomicLong lastToken = new AtomicLong();

    static MemorySpace named(String name) {
        return NAMED.computeIfAbsent(name, unused -> new MemorySpace());
    }

    Optional<Refusal> request(Ticket ticket, Mode mode, StoreContext client, long now) {
        return on(ticket.name(), now, (queue, reports) -> {
            if (queue.admits(ticket.demand())) {
                queue.grantNow(ticket, client, now, reports);
                return Optional.empty();
            }
            if (mode == Mode.TRY) {
                return Optional.of(new Refusal(queue.timeLeftOfFirst(now), "it is taken"));
            }
            queue.append(ticket, client, now, reports);
            return Optional.empty();
        });
    }

    void extend(Ticket ticket, Duration ttl, long now) {
        on(ticket.name(), now, (queue, reports) -> {
            queue.extend(ticket, ttl, now, reports);
            return true;
        });
    }

    ReleaseAnswer release(Ticket ticket, Duration linger, long now) {
        boolean held = on(ticket.name(), now, (queue, reports) -> queue.release(ticket, linger, now));
        return held ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    Withdrawal withdraw(Ticket ticket, long now) {
        boolean removed = on(ticket.name(), now, (queue, reports) -> queue.remove(ticket.owner()));
        return removed ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    void downgrade(Ticket ticket, long now) {
        on(ticket.name(), now, (queue, reports) -> {
            queue.downgrade(ticket, now, reports);
            return true;
        });
    }

    void raise(long floor) {
        lastToken.accumulateAndGet(floor, Math::max);
    }

    int forceRelease(String name, long now) {
        return on(name, now, (queue, reports) -> queue.removeHolders(reports));
    }

    /** Brings a lock up to date. When to do so next; empty if the client has no waiter there. */
    Optional<Duration> expire(String name, StoreContext client, long now) {
        return on(
                name,
                now,
                (queue, reports) ->
                        queue.hasWaiterOf(client) ? queue.timeLeftOfFirst(now) : Optional.<Duration>empty());
    }

    LockView view(String name, long now) {
        return on(name, now, (queue, reports) -> queue.view(name, now));
    }

    LockStore.Page views(String prefix, Optional<String> after, int limit, long now) {
        List<LockView> locks = new ArrayList<>();
        List<String> names = queues.keySet().stream()
                .filter(name -> name.startsWith(prefix)
                        && after.map(last -> name.compareTo(last) > 0).orElse(true))
                .sorted()
                .toList();
        for (String name : names) {
            if (locks.size() == limit) {
                return new LockStore.Page(
                        locks, Optional.of(locks.get(limit - 1).name()));
            }
            LockView view = view(name, now);
            if (view.isHeld() || !view.waiters().isEmpty()) {
                locks.add(view);
            }
        }
        return new LockStore.Page(locks, Optional.empty());
    }

    private interface Operation<T> {
        T on(MemoryQueue queue, Consumer<Runnable> reports);
    }

    /** Runs one operation on a lock's queue, before and after which the queue is brought up to date. */
    private <T> T on(String name, long now, Operation<T> operation) {
        Step<T> step = new Step<>(now, operation);
        queues.compute(name, step);
        step.reports.forEach(Runnable::run);
        return step.result();
    }

    /** One atomic change of a queue, with what came of it. */
    private final class Step<T> implements BiFunction<String, @Nullable MemoryQueue, @Nullable MemoryQueue> {

        private final long now;
        private final Operation<T> operation;
        private final List<Runnable> reports = new ArrayList<>(2);
        private @Nullable T result;

        Step(long now, Operation<T> operation) {
            this.now = now;
            this.operation = operation;
        }

        @Override
        public @Nullable MemoryQueue apply(String name, @Nullable MemoryQueue known) {
            MemoryQueue queue = known != null ? known : new MemoryQueue(lastToken);
            queue.letIn(now, reports::add);
            result = operation.on(queue, reports::add);
            queue.letIn(now, reports::add);
            return queue.isEmpty() ? null : queue;
        }

        T result() {
            if (result == null) {
                throw new IllegalStateException("the operation gave no result");
            }
            return result;
        }
    }
}
