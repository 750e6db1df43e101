package io.holdfast.redis;

import io.holdfast.spi.Ticket;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Tickets of one server that are to be checked now: whatever comes while a check is under way is checked together afterwards. So the death
 * of a holder of a thousand locks costs a few requests on one connection, not a thousand on as many. Thread-safe.
 */
final class DueChecks {

    private final Executor background;
    private final Consumer<List<Ticket>> check;
    private final Queue<Ticket> due = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isRunning = new AtomicBoolean();

    /** @param check runs in the background, one at a time */
    DueChecks(Executor background, Consumer<List<Ticket>> check) {
        this.background = background;
        this.check = check;
    }

    /** Returns at once. */
    void add(Ticket ticket) {
        due.add(ticket);
        start();
    }

    private void start() {
        if (!due.isEmpty() && isRunning.compareAndSet(false, true)) {
            try {
                background.execute(this::run);
            } catch (RuntimeException | Error e) {
                isRunning.set(false);
                throw e;
            }
        }
    }

    private void run() {
        try {
            List<Ticket> batch = new ArrayList<>();
            for (Ticket next = due.poll(); next != null; next = due.poll()) {
                batch.add(next);
            }
            if (!batch.isEmpty()) {
                check.accept(batch);
            }
        } finally {
            isRunning.set(false);
            start();
        }
    }
}
