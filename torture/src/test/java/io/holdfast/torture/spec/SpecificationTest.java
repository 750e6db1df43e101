package io.holdfast.torture.spec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("the specification")
class SpecificationTest {

    private static final Duration SOON = Duration.ofMinutes(5);
    private static final Duration LATE = Duration.ofMinutes(15);

    @TempDir
    Path directory;

    @Test
    void noWriteIsLostIfTokensAreCheckedOnTheFirstReadAndOnEveryWrite() throws Exception {
        assertHolds("Lease", "LeaseFenced", SOON);
    }

    @Test
    void writesAreLostIfTokensAreCheckedOnWritesOnly() throws Exception {
        assertViolated("NoWriteLost", "Lease", "LeaseWriteOnly");
    }

    @Test
    void writesAreLostIfTokensAreNotChecked() throws Exception {
        assertViolated("NoWriteLost", "Lease", "LeaseUnfenced");
    }

    @Test
    void tokensOfAQuorumGrowIfTheyAreWrittenBack() throws Exception {
        assertHolds("Quorum", "QuorumWriteBack", SOON);
    }

    @Test
    void tokensOfAQuorumShrinkIfTheyAreNotWrittenBack() throws Exception {
        assertViolated("TokensGrow", "Quorum", "QuorumNoWriteBack");
    }

    @Test
    void p1OneHoldsThoughSlotsAreUsedAgainAndDeletesAndEventsAreRepeated() throws Exception {
        assertHolds("StandingView", "StandingViewExact", SOON);
    }

    @Test
    void twoHoldIfADeleteDoesNotNameTheTicketItIsFor() throws Exception {
        assertViolated("Exclusion", "StandingView", "StandingViewUnguarded");
    }

    @Test
    void twoHoldIfAViewIsANumberInsteadOfASet() throws Exception {
        assertViolated("Exclusion", "StandingView", "StandingViewCounted");
    }

    @Test
    void twoHoldIfSomebodyIsGrantedBeforeTheQueueIsListed() throws Exception {
        assertViolated("Exclusion", "StandingView", "StandingViewUnlisted");
    }

    @Test
    void aRevokedTicketHoldsIfARevisionIsJudgedInParts() throws Exception {
        assertViolated("NotOfAPart", "StandingView", "StandingViewParts");
    }

    @Test
    void p1WhoDoesNotListTheQueueIsTheFirstInIt() throws Exception {
        assertHolds("QuietDirectory", "QuietDirectoryCounted", SOON);
    }

    @Test
    void twoHoldIfTransactionsBetweenTwoNodesOfAnUnlistedDirectoryAreNotCounted() throws Exception {
        assertViolated("Exclusion", "QuietDirectory", "QuietDirectoryUncounted");
    }

    @Test
    @Tag("full")
    void p1OneHoldsAmongMoreClientsWithViews() throws Exception {
        assertHolds("StandingView", "StandingViewExactFull", LATE);
    }

    @Test
    @Tag("full")
    void noWriteIsLostAmongMoreClients() throws Exception {
        assertHolds("Lease", "LeaseFencedFull", LATE);
    }

    @Test
    @Tag("full")
    void tokensOfAQuorumGrowForLonger() throws Exception {
        assertHolds("Quorum", "QuorumWriteBackFull", LATE);
    }

    private void assertHolds(String module, String configuration, Duration longest) throws Exception {
        ModelChecker.Result result = new ModelChecker(directory, longest).check(module, configuration);

        assertThat(result.complete()).as(result.output()).isTrue();
        assertThat(result.states()).as(result.output()).isGreaterThan(1_000);
    }

    private void assertViolated(String invariant, String module, String configuration) throws Exception {
        ModelChecker.Result result = new ModelChecker(directory, SOON).check(module, configuration);

        assertThat(result.violated()).as(result.output()).contains(invariant);
    }
}
