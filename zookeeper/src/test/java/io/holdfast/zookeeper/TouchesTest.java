package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("P1 what a lease is counted from")
class TouchesTest {

    private static final Duration TICK = Duration.ofNanos(1_000);

    private final Touches touches = new Touches(TICK);

    @Test
    void aFreshConnectionCountsFromTheWrite() {
        touches.connected(10_000);
        touches.committed(10_100);

        assertThat(touches.baseNanos()).isEqualTo(10_100);
    }

    @Test
    void withoutPulsesTheBaseStaysNearTheConnectionAttempt() {
        touches.connected(10_000);
        touches.committed(50_000);

        assertThat(touches.baseNanos()).isEqualTo(10_750);
    }

    @Test
    void withTimelyPulsesTheBaseIsTheWrite() {
        touches.connected(10_000);
        for (int pulse = 10_200; pulse <= 50_000; pulse += 200) {
            touches.pulsed(pulse, pulse + 50);
        }
        for (int write = 50_000; write < 50_200; write++) {
            touches.committed(write);
            assertThat(touches.baseNanos()).isEqualTo(write);
        }
    }

    @Test
    void pulsesYoungerThanHalfATickDoNotCount() {
        touches.connected(10_000);
        touches.pulsed(20_000, 20_001);
        touches.pulsed(49_800, 49_801);
        touches.committed(50_000);

        assertThat(touches.baseNanos()).isEqualTo(20_750);
    }

    @Test
    void pulsesThatReachedAServerTogetherWithTheWriteDoNotCount() {
        touches.connected(10_000);
        touches.pulsed(20_000, 20_001);
        // The server was stopped: all that was sent to it meanwhile is answered at once, and no ping came between.
        touches.pulsed(47_000, 50_100);
        touches.pulsed(48_000, 50_100);
        touches.committed(50_000);
        assertThat(touches.baseNanos()).isEqualTo(20_750);

        touches.committed(50_600);
        assertThat(touches.baseNanos()).isEqualTo(48_750);
    }

    @Test
    void pulsesOfAnEarlierConnectionDoNotCount() {
        touches.connected(10_000);
        touches.committed(10_001);
        touches.pulsed(40_000, 40_001);
        touches.disconnected();
        touches.committed(50_000);
        assertThat(touches.baseNanos()).isEqualTo(10_001);

        touches.connected(49_000);
        touches.committed(60_000);
        assertThat(touches.baseNanos()).isEqualTo(49_750);
    }

    @Test
    void theBaseNeverGoesBack() {
        touches.connected(10_000);
        touches.committed(10_500);
        touches.connected(10_600);
        touches.committed(10_400);

        assertThat(touches.baseNanos()).isEqualTo(10_500);
    }

    @Test
    void nothingIsKnownOfAClientNotOursUntilAPulseIsProven() {
        touches.pulsed(10_000, 10_050);
        touches.committed(10_400);
        assertThat(touches.isKnown()).isFalse();

        touches.committed(10_600);
        assertThat(touches.isKnown()).isTrue();
        assertThat(touches.baseNanos()).isEqualTo(10_600);
    }
}
