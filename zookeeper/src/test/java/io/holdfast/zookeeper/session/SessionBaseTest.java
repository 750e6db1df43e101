package io.holdfast.zookeeper.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("P1 what a lease is counted from")
class SessionBaseTest {

    private static final Duration TICK = Duration.ofNanos(1_000);

    private final SessionBase base = new SessionBase(TICK);

    @Test
    void aFreshConnectionCountsFromTheWrite() {
        base.connected(10_000);
        base.committed(10_100);

        assertThat(base.nanos()).isEqualTo(10_100);
    }

    @Test
    void withoutProbesTheBaseStaysNearTheConnectionAttempt() {
        base.connected(10_000);
        base.committed(50_000);

        assertThat(base.nanos()).isEqualTo(10_750);
    }

    @Test
    void withTimelyProbesTheBaseIsTheWrite() {
        base.connected(10_000);
        for (int probe = 10_200; probe <= 50_000; probe += 200) {
            base.probed(probe, probe + 50);
        }
        for (int write = 50_000; write < 50_200; write++) {
            base.committed(write);
            assertThat(base.nanos()).isEqualTo(write);
        }
    }

    @Test
    void probesYoungerThanHalfATickDoNotCount() {
        base.connected(10_000);
        base.probed(20_000, 20_001);
        base.probed(49_800, 49_801);
        base.committed(50_000);

        assertThat(base.nanos()).isEqualTo(20_750);
    }

    @Test
    void probesThatReachedAServerTogetherWithTheWriteDoNotCount() {
        base.connected(10_000);
        base.probed(20_000, 20_001);
        // The server was stopped: all that was sent to it meanwhile is answered at once, and no ping came between.
        base.probed(47_000, 50_100);
        base.probed(48_000, 50_100);
        base.committed(50_000);
        assertThat(base.nanos()).isEqualTo(20_750);

        base.committed(50_600);
        assertThat(base.nanos()).isEqualTo(48_750);
    }

    @Test
    void probesOfAnEarlierConnectionDoNotCount() {
        base.connected(10_000);
        base.committed(10_001);
        base.probed(40_000, 40_001);
        base.disconnected();
        base.committed(50_000);
        assertThat(base.nanos()).isEqualTo(10_001);

        base.connected(49_000);
        base.committed(60_000);
        assertThat(base.nanos()).isEqualTo(49_750);
    }

    @Test
    void theBaseNeverGoesBack() {
        base.connected(10_000);
        base.committed(10_500);
        base.connected(10_600);
        base.committed(10_400);

        assertThat(base.nanos()).isEqualTo(10_500);
    }

    @Test
    void nothingIsKnownOfAClientNotOursUntilAProbeIsProven() {
        base.probed(10_000, 10_050);
        base.committed(10_400);
        assertThat(base.isKnown()).isFalse();

        base.committed(10_600);
        assertThat(base.isKnown()).isTrue();
        assertThat(base.nanos()).isEqualTo(10_600);
    }
}
