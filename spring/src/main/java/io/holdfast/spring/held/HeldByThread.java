package io.holdfast.spring.held;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NamedThreadLocal;

/** What the calling thread holds: for the methods it is in, and until the end of its transaction. */
public final class HeldByThread {

    private static final ThreadLocal<@Nullable Deque<Held>> RUNNING =
            new NamedThreadLocal<>("leases of @Locked methods");

    private static final ThreadLocal<@Nullable Deque<Held>> KEPT =
            new NamedThreadLocal<>("leases that are held until the end of a transaction");

    private HeldByThread() {}

    /**
     * A lease that the thread has.
     *
     * @param held what it is part of
     */
    public record Found(Held held, Lease lease) {}

    /** What the innermost method runs under. */
    public static Optional<Held> innermost() {
        Deque<Held> stack = RUNNING.get();
        return stack == null ? Optional.empty() : Optional.ofNullable(stack.peekFirst());
    }

    /** The lease of that lock, if the thread has one. */
    public static Optional<Found> find(Holdfast client, String name) {
        return Stream.of(RUNNING, KEPT)
                .flatMap(where -> Stream.ofNullable(where.get()).flatMap(Deque::stream))
                .flatMap(held -> held.leaseOf(client, name).map(lease -> new Found(held, lease)).stream())
                .findFirst();
    }

    public static void enter(Held held) {
        push(RUNNING, held);
    }

    public static void leave() {
        Deque<Held> stack = RUNNING.get();
        if (stack != null) {
            stack.pop();
            if (stack.isEmpty()) {
                RUNNING.remove();
            }
        }
    }

    /** The method will have ended, but its lock is held until the transaction of this thread has. */
    public static void keep(Held held) {
        push(KEPT, held);
    }

    public static void endOfTransaction(Held held) {
        Deque<Held> kept = KEPT.get();
        if (kept != null && kept.remove(held) && kept.isEmpty()) {
            KEPT.remove();
        }
    }

    private static void push(ThreadLocal<@Nullable Deque<Held>> where, Held held) {
        Deque<Held> stack = where.get();
        if (stack == null) {
            stack = new ArrayDeque<>();
            where.set(stack);
        }
        stack.push(held);
    }
}
