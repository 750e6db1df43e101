package io.holdfast.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockEvent;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
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
        AtomicReference<Events> events = new AtomicReference<>();
        events.set(new Events(
                List.of(event -> {
                    if (heard.incrementAndGet() < many) {
                        events.get().publish(() -> EVENT);
                    }
                }),
                Runnable::run));

        events.get().publish(() -> EVENT);

        assertThat(heard).hasValue(many);
    }

    @Test
    void thatNobodyTakesAreForgottenAndLaterOnesDelivered() {
        AtomicBoolean full = new AtomicBoolean(true);
        Events events = new Events(List.of(event -> heard.incrementAndGet()), task -> {
            if (full.get()) {
                throw new RejectedExecutionException("full for a moment");
            }
            task.run();
        });
        events.publish(() -> EVENT);

        full.set(false);
        events.publish(() -> EVENT);

        assertThat(heard).hasValue(1);
    }
}
