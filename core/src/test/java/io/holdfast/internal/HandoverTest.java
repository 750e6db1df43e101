package io.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.holdfast.spi.StoreContext.Timer;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A task that is handed over")
class HandoverTest {

    private final List<Runnable> kept = new ArrayList<>();
    private final List<Runnable> later = new ArrayList<>();
    private final AtomicInteger runs = new AtomicInteger();
    private final Timer timer = (nanos, task) -> {
        later.add(task);
        return () -> {};
    };

    @Test
    void runsOnceThoughTheUsersExecutorKeepsItAndThrows() {
        handover(this::keepAndThrow, Runnable::run).execute(runs::incrementAndGet);

        kept.forEach(Runnable::run);

        assertThat(runs).hasValue(1);
    }

    @Test
    void runsLaterIfThereIsNoThreadForItNow() {
        AtomicInteger tries = new AtomicInteger();
        Executor own = task -> {
            if (tries.incrementAndGet() == 1) {
                throw new OutOfMemoryError("unable to create native thread (simulated)");
            }
            task.run();
        };
        handover(this::keepAndThrow, own).execute(runs::incrementAndGet);
        assertThat(runs).hasValue(0);

        later.remove(0).run();

        assertThat(runs).hasValue(1);
    }

    @Test
    void isRefusedByAClosedClientOnly() {
        Executor closed = task -> {
            throw new RejectedExecutionException("closed");
        };

        assertThatExceptionOfType(RejectedExecutionException.class)
                .isThrownBy(() -> handover(this::keepAndThrow, closed).execute(runs::incrementAndGet));
    }

    private Handover handover(Executor users, Executor own) {
        return new Handover(users, own, timer, TimeSource.system());
    }

    private void keepAndThrow(Runnable task) {
        kept.add(task);
        throw new IllegalStateException("no thread, but a place in the queue");
    }
}
