package io.holdfast.memory;

import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.LockView;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One named set of in-memory locks.
 *
 * <p>Every operation on a lock is one {@code compute} on its entry in the map, which makes it atomic and forgets locks
 * nobody holds or waits for. Who is told of a grant is told after it. Thread-safe.
 */
final class MemorySpace {

    private static final ConcurrentHashMap<String, MemorySpace> NAMED = new ConcurrentHashMap<>();

    private final ConcurrentHashMap<String, MemoryLine> lines = new ConcurrentHashMap<>();
    private final AtomicLong lastToken = new AtomicLong();

    static MemorySpace named(String name) {
        return NAMED.computeIfAbsent(name, unused -> new MemorySpace());
    }

    Answer attempt(Request request, long now, StoreContext context) {
        return on(request.name(), now, line -> {
            if (!line.admits(request.demand())) {
                return new Answer.Refused(line.timeLeftOfFirst(now), "it is taken");
            }
            return new Answer.Granted(line.grantNow(request, context, now));
        });
    }

    Answer enqueue(Request request, TicketListener listener, long now, StoreContext context) {
        Answer answer = on(request.name(), now, line -> {
            if (line.admits(request.demand())) {
                return new Answer.Granted(line.grantNow(request, context, now));
            }
            line.append(request, listener, context, now);
            return new Answer.Queued(new Ticket(request, request.ttl(), now));
        });
        if (answer instanceof Answer.Queued && on(request.name(), now, line -> line.startWatch(context))) {
            watch(request.name(), now, context);
        }
        return answer;
    }

    RenewalAnswer renew(RenewalRequest renewal, long now) {
        Request request = renewal.claim().request();
        return on(request.name(), now, line -> {
            boolean kept = line.extend(request.owner(), now, renewal.ttl());
            return kept
                    ? new RenewalAnswer.Extended(now, renewal.ttl())
                    : new RenewalAnswer.Gone("it expired or was taken away");
        });
    }

    ReleaseAnswer release(Request request, Duration linger, long now) {
        return on(request.name(), now, line -> {
            boolean held = line.release(request.owner(), linger, now);
            return held ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
        });
    }

    Withdrawal withdraw(Request request, long now) {
        return on(request.name(), now, line -> {
            boolean removed = line.remove(request.owner());
            return removed ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
        });
    }

    Grant downgrade(Grant exclusive, long now) {
        Request old = exclusive.request();
        Request shared = new Request(old.name(), old.owner(), Demand.shared(), old.ttl(), old.origin());
        boolean held = on(old.name(), now, line -> line.downgrade(shared, now));
        if (!held) {
            throw new LeaseLostException(old.name(), exclusive.token() << 10, "the store no longer knows it");
        }
        return new Grant(shared, exclusive.token(), exclusive.ttl(), now);
    }

    void raise(long floor) {
        lastToken.accumulateAndGet(floor, Math::max);
    }

    int forceRelease(String name, long now) {
        List<Runnable> losses = new ArrayList<>();
        on(name, now, line -> line.removeHolders(losses));
        losses.forEach(Runnable::run);
        return losses.size();
    }

    LockView view(String name, long now) {
        return on(name, now, line -> line.view(name, now));
    }

    List<LockView> views(String prefix, long now) {
        return lines.keySet().stream()
                .filter(name -> name.startsWith(prefix))
                .map(name -> view(name, now))
                .filter(view -> view.isHeld() || !view.waiters().isEmpty())
                .sorted(Comparator.comparing(LockView::name))
                .toList();
    }

    /** Runs one operation on a lock's line, before and after which the line is brought up to date. */
    private <T> T on(String name, long now, Function<MemoryLine, T> operation) {
        Step<T> step = new Step<>(now, operation);
        lines.compute(name, step);
        step.pushes.forEach(Runnable::run);
        return step.result();
    }

    /** Looks at the line again when its first place expires, on one alarm per client that waits, while it waits. */
    private void watch(String name, long now, StoreContext context) {
        Optional<Duration> left = on(name, now, line -> line.watch(context, now));
        left.ifPresent(wait -> context.timer()
                .at(now + wait.toNanos(), () -> watch(name, context.time().nanoTime(), context)));
    }

    /** One atomic change of a line, with what came of it. */
    private final class Step<T> implements BiFunction<String, @Nullable MemoryLine, @Nullable MemoryLine> {

        private final long now;
        private final Function<MemoryLine, T> operation;
        private List<Runnable> pushes = List.of();
        private @Nullable T result;

        Step(long now, Function<MemoryLine, T> operation) {
            this.now = now;
            this.operation = operation;
        }

        @Override
        public @Nullable MemoryLine apply(String name, @Nullable MemoryLine known) {
            MemoryLine line = known != null ? known : new MemoryLine(lastToken);
            line.letIn(now, this::push);
            result = operation.apply(line);
            line.letIn(now, this::push);
            return line.isEmpty() ? null : line;
        }

        private void push(Runnable push) {
            if (pushes.isEmpty()) {
                pushes = new ArrayList<>();
            }
            pushes.add(push);
        }

        T result() {
            if (result == null) {
                throw new IllegalStateException("the operation gave no result");
            }
            return result;
        }
    }
}
