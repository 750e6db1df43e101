package io.holdfast.internal.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockEvent;
import io.holdfast.Loss;
import io.holdfast.LossReason;
import io.holdfast.ReleaseResult;
import io.holdfast.StoreUnavailableException;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.internal.work.Lifecycle;
import io.holdfast.spi.LockObserver.Way;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What listeners hear of a lease")
class TelemetryTest {

    private static final long TOKEN = 1_024;

    private final List<LockEvent> heard = new ArrayList<>();
    private final Telemetry telemetry = new Telemetry(
            List.of(),
            List.of(heard::add),
            new Callbacks(Optional.empty(), Runnable::run, Runnable::run, new Lifecycle("client")),
            TimeSource.system());
    private final Telemetry.Story story = telemetry.begin("orders", Demand.exclusive());

    @Test
    void P5_endsWithItsLossThoughARenewalFailsBesideIt() {
        story.acquired(Way.GRANTED, TOKEN, 0);

        story.lost(new Loss("orders", TOKEN, LossReason.EXPIRED, "it was not renewed in time"), 0, true);
        renewalFails();

        assertThat(heard).hasSize(2).last().isInstanceOf(LockEvent.Lost.class);
    }

    @Test
    void endsWithItsReleaseThoughARenewalIsAnsweredBesideIt() {
        story.acquired(Way.GRANTED, TOKEN, 0);

        story.released(TOKEN, ReleaseResult.RELEASED, 0);
        story.renewed("orders", TOKEN, Duration.ofSeconds(10));

        assertThat(heard).hasSize(2).last().isInstanceOf(LockEvent.Released.class);
    }

    @Test
    void P5_tellsOfAFailedRenewalBeforeTheLoss() {
        story.acquired(Way.GRANTED, TOKEN, 0);

        renewalFails();

        assertThat(heard).hasSize(2).last().isInstanceOf(LockEvent.RenewalFailing.class);
    }

    private void renewalFails() {
        story.renewalFailed(
                "orders", TOKEN, Duration.ofSeconds(1), new StoreUnavailableException("orders", "the network is down"));
    }
}
