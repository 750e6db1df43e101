package io.holdfast.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectNestedMethod;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Events;

/** A test that cannot fail is a defect: each broken store must fail the test that is there for it. */
@DisplayName("The kit rejects")
class MutantsTest {

    static Stream<Arguments> mutants() {
        return Stream.of(
                rejected(Mutants.GrantsTwice.class, "Exclusion", "aHeldLockIsRefusedToOthersUntilItIsReleased"),
                rejected(Mutants.GrantsTwice.class, "Exclusion", "clientsContendingByPollingNeverOverlap"),
                rejected(Mutants.SometimesGrantsTwice.class, "Exclusion", "clientsContendingBalancedNeverOverlap"),
                rejected(Mutants.SometimesGrantsTwice.class, "Exclusion", "clientsContendingInStrictOrderNeverOverlap"),
                rejected(Mutants.LetsWritersInAsReaders.class, "Exclusion", "readersShareAndWritersAreAlone"),
                rejected(Mutants.CountsPermitsOfOneTakerOnly.class, "Exclusion", "permitsNeverExceedTheTotal"),
                rejected(Mutants.CountsFromTheReply.class, "Exclusion", "aLeaseCountsFromBeforeItsRequestWasSent"),
                rejected(Mutants.CountsFromTheReply.class, "Exclusion", "anExtensionCountsFromBeforeItsRequestWasSent"),
                rejected(
                        Mutants.CountsPushesFromTheirArrival.class,
                        "Exclusion",
                        "aPushedGrantCountsFromTheLastHeartbeatNotFromItsArrival"),
                rejected(
                        Mutants.PassesOnTooSoon.class,
                        "Exclusion",
                        "aHolderThatHearsNothingIsInvalidBeforeTheNextIsIn"),
                rejected(Mutants.ResetsItsTokens.class, "Fencing", "tokensGrowAcrossRestartsOfAllClients"),
                rejected(Mutants.ResetsItsTokens.class, "Fencing", "tokensGrowFromGrantToGrantWhoeverGetsThem"),
                rejected(
                        Mutants.GivesReadersOneToken.class,
                        "Fencing",
                        "readersHaveTokensOfTheirOwnAllAboveTheLastWritersAndBelowTheNext"),
                rejected(Mutants.GivesReadersOneToken.class, "Fencing", "permitHoldersHaveTokensOfTheirOwn"),
                rejected(Mutants.ReleasesForAnybody.class, "Ownership", "staleHolderCannotReleaseItsSuccessor"),
                rejected(Mutants.RenewsForAnybody.class, "Ownership", "staleHolderCannotRenewAfterItsSuccessorIsIn"),
                rejected(
                        Mutants.WithdrawsForAnybody.class,
                        "Ownership",
                        "staleRequestCannotBeWithdrawnFromItsSuccessor"),
                rejected(Mutants.NeverExpires.class, "Liveness", "aDeadHoldersLockPassesOnWhateverItsKind"),
                rejected(Mutants.NeverExpires.class, "Liveness", "aDeadWaiterDoesNotStallThoseBehindIt"),
                rejected(
                        Mutants.HidesThatAClaimIsGone.class,
                        "Told",
                        "aLeaseTheStoreNoLongerKnowsIsLostAtTheNextRenewal"),
                rejected(Mutants.ForgetsAWaiter.class, "Order", "ticketsAreServedInOrderOfArrival"),
                rejected(Mutants.SwapsNeighbours.class, "Order", "ticketsAreServedInOrderOfArrival"),
                rejected(Mutants.WakesTheHerd.class, "Order", "waitersHandTheLockOnWithoutAskingAgain"),
                rejected(Mutants.LetsTriesOvertake.class, "Order", "askingOnceNeverOvertakesTheLine"),
                rejected(Mutants.IgnoresWithdrawals.class, "NoGuessing", "anUnansweredTryIsUndone"),
                rejected(Mutants.IgnoresWithdrawals.class, "NoGuessing", "anInterruptedWaiterLeavesNothing"),
                rejected(Mutants.SometimesGrantsTwice.class, "Storm", "exclusiveLocksSurviveAStorm"),
                rejected(Mutants.SaysReleasedAndKeepsIt.class, "Clean", "aReleasedLockLeavesNothing"),
                rejected(Mutants.ForgetsToLinger.class, "Options", "theLockStaysTakenForItsShortestHold"),
                rejected(
                        Mutants.ListsEverythingAtOnce.class,
                        "Views",
                        "aListingComesInPagesThatTogetherHaveEveryLockOnce"),
                rejected(
                        Mutants.LosesALockBetweenPages.class,
                        "Views",
                        "aListingComesInPagesThatTogetherHaveEveryLockOnce"),
                rejected(
                        Mutants.LosesALockBetweenPages.class,
                        "Views",
                        "aListingHasEveryLockThatStaysThoughOthersComeAndGoBetweenItsPages"),
                rejected(
                        Mutants.AnswersPingsWithoutAsking.class,
                        "Ping",
                        "aStoreThatCannotBeReachedIsSaidToBeUnavailableWithinTheTimeGiven"),
                rejected(Mutants.FoldsNames.class, "Names", "differentNamesAreDifferentLocks"));
    }

    private static Arguments rejected(Class<? extends Mutant> mutant, String group, String test) {
        return Arguments.of(mutant.getSimpleName(), mutant, group, test);
    }

    @ParameterizedTest(name = "{0} in {2}.{3}")
    @MethodSource("mutants")
    void aBrokenStore(String name, Class<? extends Mutant> mutant, String group, String test) {
        Class<?> contract = nested(group);
        Method method = Arrays.stream(contract.getSuperclass().getDeclaredMethods())
                .filter(each -> each.getName().equals(test))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no test " + group + "." + test));

        Events tests = EngineTestKit.engine("junit-jupiter")
                .selectors(selectNestedMethod(List.of(mutant), contract, method))
                .execute()
                .testEvents();

        assertThat(tests.started().count()).as("tests run").isPositive();
        assertThat(tests.failed().count()).as("%s must fail %s", name, test).isPositive();
    }

    private static Class<?> nested(String group) {
        return Stream.of(CoreStoreContract.class, LockStoreContract.class)
                .flatMap(type -> Arrays.stream(type.getDeclaredClasses()))
                .filter(type -> type.getSimpleName().equals(group))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no group " + group));
    }
}
