package io.holdfast.internal.work;

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

@DisplayName("A task that is handed to the client's own threads")
class ReliableExecutorTest {

    private final List<Runnable> kept = new ArrayList<>();
    private final List<Runnable> later = new ArrayList<>();
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicInteger tries = new AtomicInteger();
    private final Timer timer = (nanos, task) -> {
        later.add(task);
        return () -> {};
    };

    @Test
    void runsOnceThoughItIsKeptWhileAnErrorIsThrown() {
        reliable(task -> {
                    kept.add(task);
                    throw new IllegalStateException("no thread, but a place in the queue");
                })
                .execute(runs::incrementAndGet);

        kept.forEach(Runnable::run);
        later.remove(0).run();
        kept.forEach(Runnable::run);

        assertThat(kept).hasSize(2);
        assertThat(runs).hasValue(1);
    }

    @Test
    void runsLaterIfThereIsNoThreadForItNow() {
        reliable(task -> {
                    if (tries.incrementAndGet() == 1) {
                        throw new OutOfMemoryError("unable to create native thread (simulated)");
                    }
                    task.run();
                })
                .execute(runs::incrementAndGet);
        assertThat(runs).hasValue(0);

        later.remove(0).run();

        assertThat(runs).hasValue(1);
    }

    @Test
    void isRefusedByAClosedClientOnly() {
        Executor closed = reliable(task -> {
            throw new RejectedExecutionException("closed");
        });

        assertThatExceptionOfType(RejectedExecutionException.class)
                .isThrownBy(() -> closed.execute(runs::incrementAndGet));
        assertThat(later).isEmpty();
    }

    @Test
    void runsThoughTheClientWasClosedWhileItWaitedForAThread() {
        reliable(task -> {
                    if (tries.incrementAndGet() == 1) {
                        throw new OutOfMemoryError("unable to create native thread (simulated)");
                    }
                    throw new RejectedExecutionException("closed");
                })
                .execute(runs::incrementAndGet);

        later.remove(0).run();

        assertThat(runs).hasValue(1);
    }

    private ReliableExecutor reliable(Executor own) {
        return new ReliableExecutor(own, timer, TimeSource.system());
    }
}
