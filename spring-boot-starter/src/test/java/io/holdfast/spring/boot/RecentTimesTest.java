package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("recent times")
class RecentTimesTest {

    private final RecentTimes times = new RecentTimes();

    @Test
    void haveAPercentileOnceThereIsOne() {
        assertThat(times.p99Millis()).isEmpty();
        times.record(Duration.ofMillis(7));
        assertThat(times.p99Millis()).contains(7.0);
    }

    @Test
    void areThoseThatNinetyNineOfAHundredDoNotExceed() {
        for (int i = 1; i <= 100; i++) {
            times.record(Duration.ofMillis(i));
        }
        assertThat(times.p99Millis()).contains(99.0);
    }

    @Test
    void areForgottenAfterAThousandOthers() {
        times.record(Duration.ofHours(1));
        for (int i = 0; i < 1_000; i++) {
            times.record(Duration.ofMillis(1));
        }
        assertThat(times.p99Millis()).contains(1.0);
    }
}
