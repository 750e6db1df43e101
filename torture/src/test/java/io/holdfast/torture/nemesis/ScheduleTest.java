package io.holdfast.torture.nemesis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("the schedule of faults")
class ScheduleTest {

    private static final Duration TTL = Duration.ofSeconds(2);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static final String PLAN_OF_SEED_7 = "[  1.662 s  pause        for 6.000 s, choice 6b536129, "
            + "  8.387 s  kill-holder  for 1.716 s, choice c98f2c2b, "
            + " 11.801 s  kill-holder  for 1.217 s, choice 84d64da0]";

    @Test
    void theSameSeedGivesTheSameSchedule() {
        Schedule one = Schedule.plan(42, EnumSet.allOf(Fault.class), MINUTE, TTL);
        Schedule again = Schedule.plan(42, EnumSet.allOf(Fault.class), MINUTE, TTL);
        Schedule other = Schedule.plan(43, EnumSet.allOf(Fault.class), MINUTE, TTL);

        assertThat(again).isEqualTo(one);
        assertThat(other.faults()).isNotEqualTo(one.faults());
    }

    /** Seeds of old reports must stay good: a changed plan is a changed meaning of every seed ever printed. */
    @Test
    void aSeedKeepsItsMeaning() {
        Schedule schedule = Schedule.plan(7, List.of(Fault.PAUSE, Fault.KILL_HOLDER), Duration.ofSeconds(20), TTL);

        assertThat(schedule.faults()).hasToString(PLAN_OF_SEED_7);
    }

    @Test
    void theOrderInWhichFaultsAreNamedDoesNotMatter() {
        Schedule one = Schedule.plan(1, List.of(Fault.CUT, Fault.PAUSE, Fault.SERVER_KILL), MINUTE, TTL);
        Schedule other = Schedule.plan(1, List.of(Fault.SERVER_KILL, Fault.PAUSE, Fault.CUT), MINUTE, TTL);

        assertThat(other).isEqualTo(one);
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void everyFaultAloneComesWithinTenSecondsAndEndsInTime(Fault fault) {
        for (long seed = 0; seed < 200; seed++) {
            Schedule schedule = Schedule.plan(seed, Set.of(fault), Duration.ofSeconds(12), TTL);

            assertThat(schedule.faults()).isNotEmpty().allSatisfy(planned -> {
                assertThat(planned.fault()).isEqualTo(fault);
                assertThat(planned.end()).isLessThanOrEqualTo(Duration.ofSeconds(12));
            });
        }
    }

    @Test
    void everyKindComesBeforeOneComesTwice() {
        Set<Fault> net = Fault.parse(List.of("net"));

        List<PlannedFault> faults = Schedule.plan(9, net, MINUTE, TTL).faults();

        assertThat(faults.subList(0, net.size()).stream()
                        .map(PlannedFault::fault)
                        .collect(Collectors.toSet()))
                .isEqualTo(net);
    }

    @Test
    void faultsOfOneKindFollowEachOtherWithABreath() {
        List<PlannedFault> faults = Schedule.plan(3, Fault.parse(List.of("kill", "pause", "net")), MINUTE, TTL)
                .faults();

        for (int i = 1; i < faults.size(); i++) {
            assertThat(faults.get(i).at()).isGreaterThan(faults.get(i - 1).end());
        }
    }

    @Test
    void familiesAndSingleFaultsAreUnderstood() {
        assertThat(Fault.parse(List.of("kill", "cut-replies")))
                .containsExactlyInAnyOrder(Fault.KILL_HOLDER, Fault.KILL_WAITER, Fault.CUT_REPLIES);
        assertThatThrownBy(() -> Fault.parse(List.of("flood")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("flood")
                .hasMessageContaining("cut-replies");
    }

    @Test
    void aChoicePicksTheSameEveryTimeAndAllOfThemOverTime() {
        PlannedFault fault = new PlannedFault(Duration.ZERO, TTL, Fault.CUT, 12345);

        assertThat(fault.pick("worker", 5)).isEqualTo(fault.pick("worker", 5));
        Set<Integer> picked = Schedule.plan(5, Set.of(Fault.RESET), Duration.ofMinutes(10), TTL).faults().stream()
                .map(planned -> planned.pick("worker", 5))
                .collect(Collectors.toSet());
        assertThat(picked).containsExactlyInAnyOrder(0, 1, 2, 3, 4);
    }
}
