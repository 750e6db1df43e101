package io.holdfast.torture.check;

import static io.holdfast.torture.check.Finding.Outcome.HELD;
import static io.holdfast.torture.check.Finding.Outcome.NOT_TESTED;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Guard;
import io.holdfast.torture.history.Phase;
import io.holdfast.torture.nemesis.Fault;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("the checker")
class CheckerTest {

    private static final Demand EXCLUSIVE = Demand.exclusive();
    private static final Demand SHARED = Demand.shared();

    private final Story story = new Story();

    @Test
    void saysNothingAboutAnEmptyHistory() {
        Verdict verdict = story.judged();

        assertThat(verdict.holds()).isTrue();
        assertThat(verdict.findings().values()).extracting(Finding::outcome).containsOnly(NOT_TESTED);
    }

    @Test
    void countsWhatItLookedAt() {
        Verdict verdict = story.holds(0, 1, "a", 1)
                .writes(2, "a", Guard.UNCHECKED, "", "v1", Phase.OK)
                .releases(3, 4, "a")
                .fault(5, 6)
                .contains(9, Guard.UNCHECKED, "v1")
                .judged();

        assertThat(verdict.counts()).isEqualTo(new Counts(3, 1, 1, Counts.Writes.NONE, new Counts.Writes(1, 0, 0)));
        assertThat(verdict.of(Promise.EXCLUSION).outcome()).isEqualTo(HELD);
        assertThat(verdict.of(Promise.FENCING).outcome()).isEqualTo(NOT_TESTED);
    }

    @Nested
    class Exclusion {

        @Test
        void holdersOneAfterTheOther() {
            story.holds(0, 1, "a", 1).releases(5, 6, "a").holds(2, 6, "b", 2).releases(7, 8, "b");

            assertThat(story.judged().holds()).isTrue();
        }

        @Test
        void aGrantBeforeTheReleaseWasCalled() {
            story.holds(0, 1, "a", 1).releases(5, 6, "a").holds(2, 4, "b", 2).releases(7, 8, "b");

            assertViolated(Promise.EXCLUSION, "a", "b");
        }

        @Test
        void aHolderThatDiedIsSucceededAtItsDeadline() {
            story.holds(0, 1, "a", 1).holds(2, 100, "b", 2).releases(150, 151, "b");

            assertThat(story.judged().holds()).isTrue();
        }

        @Test
        void aHolderThatDiedIsSucceededTooSoon() {
            story.holds(0, 1, "a", 1).holds(2, 99, "b", 2).releases(150, 151, "b");

            assertViolated(Promise.EXCLUSION, "a", "b");
        }

        @Test
        void renewalsMoveTheDeadlineByTheirSendTime() {
            story.holds(0, 1, "a", 1).renewed(60, "a", 50, 100).holds(2, 149, "b", 2);

            assertViolated(Promise.EXCLUSION, "a", "b");
        }

        @Test
        void anExtensionHeardOfTooLateDoesNotBringALostLeaseBack() {
            story.holds(0, 1, "a", 1)
                    .lost(100, "a", LossReason.EXPIRED)
                    .holds(2, 101, "b", 2)
                    .renewed(120, "a", 60, 100)
                    .releases(150, 151, "b");

            assertThat(story.judged().holds()).isTrue();
        }

        @Test
        void anExtensionHeardOfInTimeMovesTheDeadlineOfALeaseLostLater() {
            story.holds(0, 1, "a", 1)
                    .renewed(90, "a", 60, 100)
                    .holds(2, 101, "b", 2)
                    .lost(160, "a", LossReason.EXPIRED)
                    .releases(150, 151, "b");

            assertViolated(Promise.EXCLUSION, "a", "b");
        }

        @Test
        void aReleaseOfUnknownOutcomeMayHaveBeenDone() {
            story.holds(0, 1, "a", 1).releasesAndNeverKnows(5, "a").holds(2, 6, "b", 2);

            assertThat(story.judged().holds()).isTrue();
        }

        @Test
        void readersCoexist() {
            story.asks(0, "r1", SHARED)
                    .gets(1, "r1", 1, 0, 100)
                    .asks(0, "r2", SHARED)
                    .gets(1, "r2", 2, 0, 100);

            assertThat(story.judged().holds()).isTrue();
        }

        @Test
        void aWriterAmongReaders() {
            story.asks(0, "r1", SHARED)
                    .gets(1, "r1", 1, 0, 100)
                    .holds(2, 3, "w", 2)
                    .asks(0, "r2", SHARED)
                    .gets(150, "r2", 3, 0, 100);

            assertViolated(Promise.EXCLUSION, "r1", "w");
        }

        @Test
        void permitsWithinTheirTotal() {
            story.asks(0, "a", Demand.permits(2, 3))
                    .gets(1, "a", 1, 0, 100)
                    .asks(0, "b", Demand.permits(1, 3))
                    .gets(1, "b", 2, 0, 100);

            assertThat(story.judged().holds()).isTrue();
        }

        @Test
        void onePermitTooMany() {
            for (String who : List.of("a", "b", "c")) {
                story.asks(0, who, Demand.permits(1, 2)).gets(1, who, who.charAt(0), 0, 100);
            }

            assertViolated(Promise.EXCLUSION, "a", "b", "c");
        }

        @Test
        void oneFaultIsCountedOnce() {
            story.holds(0, 1, "a", 1).holds(2, 3, "b", 2).releases(4, 5, "b");
            for (int i = 10; i < 90; i++) {
                story.holds(i, i, "c" + i, i).releases(i, i, "c" + i);
            }

            assertThat(story.judged().of(Promise.EXCLUSION).violations()).isEqualTo(1);
        }
    }

    @Nested
    class Tokens {

        @Test
        void aTokenGivenTwice() {
            story.holds(0, 1, "a", 7).releases(2, 3, "a").holds(4, 5, "b", 7).releases(6, 7, "b");

            assertViolated(Promise.TOKENS, "a", "b");
        }

        @Test
        void aLaterHolderWithASmallerToken() {
            story.holds(0, 1, "a", 7).releases(2, 3, "a").holds(4, 5, "b", 6).releases(6, 7, "b");

            assertViolated(Promise.TOKENS, "a", "b");
            assertThat(story.judged().of(Promise.EXCLUSION).outcome()).isEqualTo(HELD);
        }

        @Test
        void readersMayGetTheirTokensInAnyOrder() {
            story.asks(0, "r1", SHARED)
                    .gets(1, "r1", 7, 0, 100)
                    .releases(2, 3, "r1")
                    .asks(4, "r2", SHARED)
                    .gets(5, "r2", 6, 4, 100);

            assertThat(story.judged().holds()).isTrue();
        }
    }

    @Nested
    class Belief {

        @Test
        void twoHoldersAtOnce() {
            story.holds(0, 1, "a", 1)
                    .valid(1, "a", 110)
                    .holds(2, 105, "b", 2)
                    .valid(106, "b", 150)
                    .releases(107, 108, "b");

            assertViolated(Promise.BELIEF, "a", "b");
        }

        @Test
        void aHolderThatWasToldBelievesNoMore() {
            story.holds(0, 1, "a", 1)
                    .valid(1, "a", 110)
                    .lost(104, "a", LossReason.EXPIRED)
                    .holds(2, 105, "b", 2)
                    .valid(106, "b", 150);

            assertThat(story.judged().of(Promise.BELIEF).outcome()).isEqualTo(HELD);
        }
    }

    @Nested
    class Ends {

        @Test
        void aLeaseForgottenBeforeItsDeadline() {
            story.holds(0, 1, "a", 1).valid(20, "a", 100).lost(50, "a", LossReason.GONE);

            assertViolated(Promise.KEPT, "a");
        }

        @Test
        void aLeaseGoneAfterItsDeadline() {
            story.holds(0, 1, "a", 1).lost(100, "a", LossReason.GONE);

            assertThat(story.judged().of(Promise.KEPT).outcome()).isEqualTo(HELD);
        }

        @Test
        void aForgottenLeaseDoesNotStandInTheWayAfterItsHolderKnew() {
            story.holds(0, 1, "a", 1)
                    .valid(20, "a", 100)
                    .lost(50, "a", LossReason.GONE)
                    .holds(2, 51, "b", 2)
                    .valid(52, "b", 90);

            assertThat(story.judged().violated()).containsExactly(Promise.KEPT);
        }

        @Test
        void nobodyToldTheHolder() {
            long muchLater = Duration.ofSeconds(3).toNanos();
            story.holds(0, 1, "a", 1).releases(200, 201, "a", Phase.TOLD_LOST).lives(muchLater, "a");

            assertViolated(Promise.TOLD, "a");
        }
    }

    @Nested
    class Fencing {

        @Test
        void everyAcknowledgedWriteIsThere() {
            story.writes(1, "a", Guard.CHECKED, "", "v1", Phase.OK)
                    .writes(2, "b", Guard.CHECKED, "v1", "v2", Phase.UNKNOWN)
                    .writes(3, "c", Guard.CHECKED, "v2", "v3", Phase.OK)
                    .writes(3, "d", Guard.CHECKED, "v2", "v4", Phase.FAIL)
                    .contains(9, Guard.CHECKED, "v3");

            assertThat(story.judged().holds()).isTrue();
            assertThat(story.judged().counts().checked()).isEqualTo(new Counts.Writes(2, 0, 1));
        }

        @Test
        void aWriteThatWasOverwrittenByOneThatHadNotSeenIt() {
            story.writes(1, "a", Guard.CHECKED, "", "v1", Phase.OK)
                    .writes(2, "b", Guard.CHECKED, "", "v2", Phase.OK)
                    .contains(9, Guard.CHECKED, "v2");

            assertViolated(Promise.FENCING, "a", "b");
        }

        @Test
        void aWriteThatWasRefusedAndDoneNevertheless() {
            story.writes(1, "a", Guard.CHECKED, "", "v1", Phase.FAIL).contains(9, Guard.CHECKED, "v1");

            assertViolated(Promise.FENCING, "a");
        }

        @Test
        void withoutChecksLostWritesAreOnlyCounted() {
            story.writes(1, "a", Guard.UNCHECKED, "", "v1", Phase.OK)
                    .writes(2, "b", Guard.UNCHECKED, "", "v2", Phase.OK)
                    .contains(9, Guard.UNCHECKED, "v2");

            assertThat(story.judged().holds()).isTrue();
            assertThat(story.judged().counts().unchecked().lostShare()).isEqualTo(0.5);
        }
    }

    @Nested
    class Order {

        private final Rules ordered = Story.EXACT.withOrder(Rules.Order.ARRIVAL).withProgress(Duration.ofNanos(10));

        @Test
        void whoeverStoodInLineIsServedFirst() {
            story.queued(5, "a", EXCLUSIVE, 4, 100)
                    .granted(20, "a", EXCLUSIVE, 1, 4)
                    .granted(30, "b", EXCLUSIVE, 2, 6);

            assertThat(judgedInOrder().of(Promise.ORDER).outcome()).isEqualTo(HELD);
        }

        @Test
        void whoeverCameLaterIsServedFirst() {
            story.queued(5, "a", EXCLUSIVE, 4, 100)
                    .granted(20, "b", EXCLUSIVE, 1, 6)
                    .granted(30, "a", EXCLUSIVE, 2, 4);

            assertThat(judgedInOrder().violated()).containsExactly(Promise.ORDER);
        }

        @Test
        void whoeverCameLaterOnABusyMachineIsNotJudged() {
            story.queued(5, "a", EXCLUSIVE, 4, 100)
                    .busy(6, 8)
                    .granted(20, "b", EXCLUSIVE, 1, 6)
                    .granted(30, "a", EXCLUSIVE, 2, 4);

            assertThat(judgedInOrder().of(Promise.ORDER).outcome()).isEqualTo(Finding.Outcome.NOT_JUDGED);
        }

        @Test
        void whoeverMayHaveArrivedAtTheSameTimeMayBeServedFirst() {
            story.queued(5, "a", EXCLUSIVE, 4, 100)
                    .granted(20, "b", EXCLUSIVE, 1, 5)
                    .granted(30, "a", EXCLUSIVE, 2, 4);

            assertThat(judgedInOrder().holds()).isTrue();
        }

        @Test
        void aWaiterThatIsNeverServed() {
            story.queued(5, "a", EXCLUSIVE, 4, 100)
                    .granted(20, "b", EXCLUSIVE, 1, 6)
                    .renewed(40, "a", 39, 100);

            assertThat(judgedInOrder().violated()).containsExactly(Promise.ORDER);
        }

        @Test
        void aWaiterThatLostItsPlace() {
            story.queued(5, "a", EXCLUSIVE, 4, 100)
                    .unqueued(10, "a")
                    .granted(20, "b", EXCLUSIVE, 1, 6)
                    .granted(30, "a", EXCLUSIVE, 2, 4);

            assertThat(judgedInOrder().holds()).isTrue();
        }

        @Test
        void readersAreLetInTogether() {
            story.queued(5, "a", SHARED, 4, 100).granted(20, "b", SHARED, 1, 6).granted(30, "a", SHARED, 2, 4);

            assertThat(judgedInOrder().holds()).isTrue();
        }

        @Test
        void aFaultExcusesIt() {
            story.fault(6, 7)
                    .queued(5, "a", EXCLUSIVE, 4, 100)
                    .granted(20, "b", EXCLUSIVE, 1, 6)
                    .granted(30, "a", EXCLUSIVE, 2, 4);

            assertThat(judgedInOrder().holds()).isTrue();
        }

        private Verdict judgedInOrder() {
            return Checker.check(story.events(), ordered);
        }
    }

    @Nested
    class Progress {

        private final Rules within50 = Story.EXACT.withProgress(Duration.ofNanos(50));

        @Test
        void somebodyIsServedInTime() {
            story.asks(0, "a", EXCLUSIVE)
                    .holds(1, 40, "b", 1)
                    .releases(41, 42, "b")
                    .gets(80, "a", 2, 0, 100);

            assertThat(Checker.check(story.events(), within50)
                            .of(Promise.PROGRESS)
                            .outcome())
                    .isEqualTo(HELD);
        }

        @Test
        void nobodyIsServed() {
            story.asks(0, "a", EXCLUSIVE).lives(60, "a");

            assertThat(Checker.check(story.events(), within50).violated()).containsExactly(Promise.PROGRESS);
        }

        @Test
        void everybodyFailsAtOnceAndAsksAgain() {
            for (int i = 0; i < 60; i += 2) {
                story.asks(i, "a" + i, EXCLUSIVE).getsNothing(i + 1, "a" + i, Phase.FAIL);
            }

            assertThat(Checker.check(story.events(), within50).violated()).containsExactly(Promise.PROGRESS);
        }

        @Test
        void whoAsksNowAndThenDoesNotWait() {
            for (int i = 0; i < 90; i += 30) {
                story.asks(i, "a" + i, EXCLUSIVE).getsNothing(i + 1, "a" + i, Phase.FAIL);
            }

            assertThat(Checker.check(story.events(), within50).holds()).isTrue();
        }

        @Test
        void aStallOfABusyMachineIsNotJudged() {
            story.asks(0, "a", EXCLUSIVE).busy(10, 40).lives(60, "a");

            Verdict verdict = Checker.check(story.events(), within50);

            assertThat(verdict.holds()).isTrue();
            assertThat(verdict.of(Promise.PROGRESS).outcome()).isEqualTo(Finding.Outcome.NOT_JUDGED);
        }

        @Test
        void aStallThatIsTooLongWithoutTheBusyTimeIsNobodyElsesFault() {
            story.asks(0, "a", EXCLUSIVE).busy(10, 40).busy(35, 45).lives(90, "a");

            assertThat(Checker.check(story.events(), within50).violated()).containsExactly(Promise.PROGRESS);
        }

        @Test
        void aBusyMachineTakesNothingFromAPromiseThatWasKept() {
            story.asks(0, "a", EXCLUSIVE).busy(0, 20).gets(30, "a", 1, 0, 100).releases(40, 41, "a");

            assertThat(Checker.check(story.events(), within50)
                            .of(Promise.PROGRESS)
                            .outcome())
                    .isEqualTo(HELD);
        }

        @Test
        void aBusyMachineIsNoExcuseForTwoHolders() {
            story.holds(0, 10, "a", 1).holds(20, 30, "b", 2).busy(0, 100).lives(100, "a");

            assertThat(Checker.check(story.events(), within50).violated()).contains(Promise.EXCLUSION);
        }

        @Test
        void aDeadWaiterCannotBeServed() {
            story.asks(0, "a", EXCLUSIVE).lives(60, "b");

            assertThat(Checker.check(story.events(), within50).holds()).isTrue();
        }

        @Test
        void theClockStartsWhenTheFaultIsOver() {
            story.asks(0, "a", EXCLUSIVE).fault(5, 30).gets(79, "a", 1, 0, 100).fault(80, 90);

            assertThat(Checker.check(story.events(), within50).holds()).isTrue();
        }

        @Test
        void aFaultThatCouldNotBeHealedLastsAtLeastUntilItIsBegunAgain() {
            story.asks(0, "a", EXCLUSIVE).unhealedFault(5).fault(60, 70).gets(79, "a", 1, 0, 100);

            assertThat(Checker.check(story.events(), within50).holds()).isTrue();
        }

        @Test
        void nobodyIsServedWhileAnotherIsStopped() {
            story.asks(0, "a", EXCLUSIVE).fault(5, 90, Fault.STOP, "b").lives(100, "a");

            assertThat(Checker.check(story.events(), within50).violated()).containsExactly(Promise.PROGRESS);
        }

        @Test
        void whoIsStoppedItselfCannotBeServed() {
            story.asks(0, "a", EXCLUSIVE).fault(5, 90, Fault.STOP, "a").lives(100, "a");

            assertThat(Checker.check(story.events(), within50).holds()).isTrue();
        }

        @ParameterizedTest
        @EnumSource(names = {"EXECUTOR", "LATE_SWEEP"})
        void aFaultBesideTheLocksExcusesNoStandstillNotEvenItsVictims(Fault fault) {
            story.asks(0, "a", EXCLUSIVE).fault(5, 90, fault, "a").lives(100, "a");

            assertThat(Checker.check(story.events(), within50).violated()).containsExactly(Promise.PROGRESS);
        }

        @Test
        void aLockThatStaysDeadAfterTheFault() {
            story.asks(0, "a", EXCLUSIVE).fault(5, 30).gets(81, "a", 1, 0, 100).releases(82, 83, "a");

            assertThat(Checker.check(story.events(), within50).violated()).containsExactly(Promise.PROGRESS);
        }
    }

    @Nested
    class Clean {

        @Test
        void nothingIsLeft() {
            assertThat(story.leaves(1, Phase.OK).judged().of(Promise.CLEAN).outcome())
                    .isEqualTo(HELD);
        }

        @Test
        void somethingIsLeft() {
            assertThat(story.leaves(1, Phase.FAIL).judged().violated()).containsExactly(Promise.CLEAN);
        }
    }

    private void assertViolated(Promise promise, String... who) {
        Verdict verdict = story.judged();
        assertThat(verdict.violated()).containsExactly(promise);
        assertThat(verdict.of(promise).examples().get(0).operations())
                .extracting(Event::process)
                .contains(who);
    }
}
