package io.holdfast.redis;

import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * Makes a client listen that holds a lock for a while, so that it hears of a forced release. Who only takes locks for a moment needs no
 * subscription, nor the thread and the connection for it. Thread-safe.
 */
final class HolderSubscription {

    private static final Duration A_WHILE = Duration.ofMillis(200);

    private final StoreContext context;
    private final BooleanSupplier listen;
    private final AtomicBoolean isPlanned = new AtomicBoolean();

    /** @param listen runs in the background; whether this client listens wherever it may hold something, for good */
    HolderSubscription(StoreContext context, BooleanSupplier listen) {
        this.context = context;
        this.listen = listen;
    }

    /** Looks in a while whether something is held then. */
    void granted() {
        if (!isPlanned.get() && isPlanned.compareAndSet(false, true)) {
            long atNanos = context.time().nanoTime() + A_WHILE.toNanos();
            context.timer().at(atNanos, () -> context.background().execute(this::look));
        }
    }

    private void look() {
        // Before looking: a grant from now on is looked for again.
        isPlanned.set(false);
        if (listen.getAsBoolean()) {
            isPlanned.set(true);
        }
    }
}
