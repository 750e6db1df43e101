package io.holdfast.spring.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.scheduling.annotation.Scheduled;

@DisplayName("the time between two runs of a job")
class SchedulePeriodTest {

    static class Jobs {
        @Scheduled(cron = "0 0 3 * * *")
        public void nightly() {}

        @Scheduled(cron = "10,50 * * * * *")
        public void unevenly() {}

        @Scheduled(cron = "0 0 3 29 2 *")
        public void onLeapDays() {}

        @Scheduled(fixedDelay = 10, timeUnit = TimeUnit.SECONDS)
        public void everyTenSeconds() {}

        @Scheduled(fixedRateString = "${every}")
        public void byProperty() {}

        public void never() {}
    }

    private static Optional<Duration> period(String job) throws NoSuchMethodException {
        Method method = Jobs.class.getMethod(job);
        return SchedulePeriod.of(method, text -> text.equals("${every}") ? "PT20S" : text);
    }

    @Test
    void isThatOfItsSchedule() throws Exception {
        assertThat(period("nightly")).contains(Duration.ofDays(1));
        assertThat(period("everyTenSeconds")).contains(Duration.ofSeconds(10));
        assertThat(period("byProperty")).contains(Duration.ofSeconds(20));
        assertThat(period("onLeapDays")).contains(Duration.ofDays(4 * 365 + 1));
        assertThat(period("never")).isEmpty();
    }

    @Test
    void isTheShortestOfAnUnevenCronExpressionSoThatNoRunFindsTheLockKeptTaken() throws Exception {
        assertThat(period("unevenly")).contains(Duration.ofSeconds(20));
    }

    @Test
    void isHalvedForTheLeastHoldAndThatIsHalfAMinuteAtMost() {
        assertThat(SchedulePeriod.minHold(Duration.ofSeconds(20))).isEqualTo(Duration.ofSeconds(10));
        assertThat(SchedulePeriod.minHold(Duration.ofDays(1))).isEqualTo(Duration.ofSeconds(30));
    }
}
