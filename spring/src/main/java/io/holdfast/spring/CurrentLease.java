package io.holdfast.spring;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.MultiLease;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NamedThreadLocal;

/**
 * The lease under which the calling thread runs a {@link Locked} or {@link ScheduledLock} method: the innermost one's. Of several
 * locks that were taken together, it is the first.
 */
public final class CurrentLease {

    private static final ThreadLocal<@Nullable Deque<Held>> HELD = new NamedThreadLocal<>("leases of @Locked methods");

    private static final ThreadLocal<@Nullable Deque<Held>> KEPT =
            new NamedThreadLocal<>("leases that are held until the end of a transaction");

    private CurrentLease() {}

    /**
     * Its fencing token.
     *
     * @throws IllegalStateException if the thread runs under no lease
     */
    public static long token() {
        return current().token();
    }

    /** Empty outside of such methods. */
    public static Optional<Lease> lease() {
        return innermost().map(held -> held.leases().get(0));
    }

    /**
     * The lease, which is valid: to begin methods with that must not run without their lock, since a call from within the same
     * object goes past it.
     *
     * @throws IllegalStateException if the thread runs under no lease
     * @throws io.holdfast.LeaseLostException if it is lost
     */
    public static Lease require() {
        Lease lease = current();
        lease.requireValid();
        return lease;
    }

    private static Lease current() {
        return lease().orElseThrow(() -> new IllegalStateException(
                "No lock is held here. Call the @Locked method through its bean: a call from within the same object is not"
                        + " locked, nor is one from a thread that the method started."));
    }

    static Optional<Held> innermost() {
        Deque<Held> stack = HELD.get();
        return stack == null ? Optional.empty() : Optional.ofNullable(stack.peekFirst());
    }

    /** What this thread holds of that lock, if it does. */
    static Optional<Held> of(Holdfast client, String name) {
        return Stream.of(HELD, KEPT)
                .flatMap(held -> Stream.ofNullable(held.get()).flatMap(Deque::stream))
                .filter(held -> held.client == client
                        && held.leases().stream().anyMatch(lease -> lease.name().equals(name)))
                .findFirst();
    }

    /** The method has ended, but its lock is held until the transaction of this thread has. */
    static void keep(Held held) {
        push(KEPT, held);
    }

    static void endOfTransaction(Held held) {
        Deque<Held> kept = KEPT.get();
        if (kept != null && kept.remove(held) && kept.isEmpty()) {
            KEPT.remove();
        }
    }

    static void enter(Held held) {
        push(HELD, held);
    }

    private static void push(ThreadLocal<@Nullable Deque<Held>> where, Held held) {
        Deque<Held> stack = where.get();
        if (stack == null) {
            stack = new ArrayDeque<>();
            where.set(stack);
        }
        stack.push(held);
    }

    static void leave() {
        Deque<Held> stack = HELD.get();
        if (stack != null) {
            stack.pop();
            if (stack.isEmpty()) {
                HELD.remove();
            }
        }
    }

    /**
     * What one method holds: released when the method has ended, and every stage that methods inside it returned. Thread-safe.
     */
    static final class Held {

        private final Holdfast client;
        private final Hold hold;
        private final Locked.Mode mode;
        private final AtomicInteger users = new AtomicInteger(1);

        Held(Holdfast client, Hold hold, Locked.Mode mode) {
            this.client = client;
            this.hold = hold;
            this.mode = mode;
        }

        Hold hold() {
            return hold;
        }

        Locked.Mode mode() {
            return mode;
        }

        List<Lease> leases() {
            return hold instanceof MultiLease several ? several.leases() : List.of((Lease) hold);
        }

        /** Another one that ends with a call of {@link #release} or {@link #releaseAsync}; called by one that has not ended. */
        Held addUser() {
            users.incrementAndGet();
            return this;
        }

        void release() {
            if (users.decrementAndGet() == 0) {
                hold.release();
            }
        }

        CompletableFuture<?> releaseAsync() {
            return users.decrementAndGet() == 0 ? hold.releaseAsync() : CompletableFuture.completedFuture(null);
        }
    }
}
