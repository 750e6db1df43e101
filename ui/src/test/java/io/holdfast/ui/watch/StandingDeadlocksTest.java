package io.holdfast.ui.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Deadlock;
import io.holdfast.Demand;
import io.holdfast.LockView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class StandingDeadlocksTest {

    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");

    private static Deadlock.Wait wait(String client, String lock, Instant since, Duration left) {
        Optional<LockView.Origin> origin = Optional.of(new LockView.Origin(client, "host", 1, "main"));
        return new Deadlock.Wait(
                lock,
                new LockView.Waiter(origin, Demand.exclusive(), Optional.of(since)),
                List.of(),
                Optional.of(new LockView.Holder(
                        origin, Demand.exclusive(), Optional.of(7L), Optional.of(NOON), Optional.of(left))));
    }

    private static Deadlock circle(Instant since, Duration left) {
        return new Deadlock(List.of(wait("one", "a", NOON, left), wait("two", "b", since, left)));
    }

    @Test
    void aCircleSeenOnceIsNotTold() {
        assertThat(StandingDeadlocks.of(List.of(), List.of(circle(NOON, Duration.ofSeconds(9)))))
                .isEmpty();
    }

    @Test
    void theSameWaitersInTheNextLookAreWhateverTheirLeases() {
        Deadlock now = circle(NOON, Duration.ofSeconds(8));
        Deadlock turned = new Deadlock(List.of(now.waits().get(1), now.waits().get(0)));

        assertThat(StandingDeadlocks.of(List.of(circle(NOON, Duration.ofSeconds(9))), List.of(turned)))
                .containsExactly(turned);
    }

    @Test
    void anotherWaitOfTheSameClientIsAnother() {
        Deadlock later = circle(NOON.plusSeconds(1), Duration.ofSeconds(9));

        assertThat(StandingDeadlocks.of(List.of(circle(NOON, Duration.ofSeconds(9))), List.of(later)))
                .isEmpty();
    }
}
