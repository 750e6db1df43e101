package io.holdfast.internal.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.internal.work.Lifecycle;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Events")
class EventsTest {

    private static final LockEvent EVENT = new LockEvent.Requested("orders", Demand.exclusive());

    private final AtomicInteger heard = new AtomicInteger();

    @Test
    void areAllDeliveredHoweverManyFollowEachOtherWithoutABreak() {
        int many = 150_000;
        Queue<Runnable> tasks = new ArrayDeque<>();
        AtomicReference<Events> events = new AtomicReference<>();
        events.set(events(
                event -> {
                    if (heard.incrementAndGet() < many) {
                        events.get().publish(() -> EVENT);
                    }
                },
                tasks::add));

        events.get().publish(() -> EVENT);
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }

        assertThat(heard).hasValue(many);
    }

    @Test
    void letOtherCallbacksHaveTheirTurnWhenThereAreMany() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        Events events = events(event -> heard.incrementAndGet(), tasks::add);
        for (int i = 0; i < 1_000; i++) {
            events.publish(() -> EVENT);
        }

        tasks.remove().run();

        assertThat(heard.get()).isPositive().isLessThan(1_000);
        assertThat(tasks).hasSize(1);
    }

    @Test
    void thatNoExecutorTakesAreDeliveredWhereTheyHappen() {
        Events events = events(event -> heard.incrementAndGet(), task -> {
            throw new RejectedExecutionException("closed");
        });

        events.publish(() -> EVENT);
        events.publish(() -> EVENT);

        assertThat(heard).hasValue(2);
    }

    @Test
    void areHeardByTheNextListenerThoughOneFails() {
        Callbacks callbacks = callbacks(Runnable::run);
        Events events = new Events(
                List.of(
                        event -> {
                            throw new NoClassDefFoundError("an optional class (simulated)");
                        },
                        event -> heard.incrementAndGet()),
                callbacks);

        events.publish(() -> EVENT);

        assertThat(heard).hasValue(1);
    }

    private static Events events(LockListener listener, Executor executor) {
        return new Events(List.of(listener), callbacks(executor));
    }

    private static Callbacks callbacks(Executor executor) {
        return new Callbacks(Optional.empty(), executor, executor, new Lifecycle("client"));
    }
}
