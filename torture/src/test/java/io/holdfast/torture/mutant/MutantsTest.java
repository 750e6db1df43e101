package io.holdfast.torture.mutant;

import static io.holdfast.torture.check.Promise.BELIEF;
import static io.holdfast.torture.check.Promise.CLEAN;
import static io.holdfast.torture.check.Promise.EXCLUSION;
import static io.holdfast.torture.check.Promise.FENCING;
import static io.holdfast.torture.check.Promise.KEPT;
import static io.holdfast.torture.check.Promise.ORDER;
import static io.holdfast.torture.check.Promise.PROGRESS;
import static io.holdfast.torture.check.Promise.TOKENS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.holdfast.torture.check.Checker;
import io.holdfast.torture.check.Finding.Outcome;
import io.holdfast.torture.check.Promise;
import io.holdfast.torture.check.Rules;
import io.holdfast.torture.check.Verdict;
import io.holdfast.torture.mutant.Scenes.Scene;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Real clients on a store that is correct but for one flaw, in an interleaving in which the flaw matters. The checker must name
 * the promise that breaks, and must find nothing in the same scene without the flaw. Scenes consist mostly of waiting, so all
 * are played at once.
 */
@DisplayName("the checker finds")
class MutantsTest {

    static final Duration PROGRESS_WITHIN = Duration.ofSeconds(8);

    private static final int MOST_PLAYS = 5;

    /** More at once would keep each other from the processor, and scenes from their timing. */
    private static final ExecutorService PLAYERS = Executors.newFixedThreadPool(14);

    @TempDir
    static Path directory;

    private record Mutant(Flaw flaw, Promise broken, Scene scene) {

        /** Only scenes about progress are without long holders. */
        Rules rules() {
            Rules rules = Rules.standard().withOrder(Rules.Order.ARRIVAL);
            return broken == PROGRESS ? rules.withProgress(PROGRESS_WITHIN) : rules;
        }
    }

    private static final List<Mutant> MUTANTS = List.of(
            new Mutant(Flaw.RELEASE_WITHOUT_OWNER_CHECK, EXCLUSION, Scenes::aReleaseArrivesLate),
            new Mutant(Flaw.RELEASE_WITHOUT_OWNER_CHECK, BELIEF, Scenes::aReleaseArrivesLate),
            new Mutant(Flaw.RENEWAL_WITHOUT_OWNER_CHECK, BELIEF, Scenes::aRenewalArrivesLate),
            new Mutant(Flaw.DEADLINE_FROM_THE_REPLY, BELIEF, Scenes::aGrantArrivesLate),
            new Mutant(Flaw.RENEWAL_COUNTED_WITHOUT_REPLY, BELIEF, Scenes::aHolderIsCutOff),
            new Mutant(Flaw.SLOW_CLOCK, BELIEF, Scenes::aHolderLetsItsLeaseRunOut),
            new Mutant(Flaw.TOKENS_RESET_BY_RESTART, TOKENS, Scenes::theStoreRestartsBetweenTwoHolders),
            new Mutant(Flaw.LEASES_FORGOTTEN_BY_RESTART, KEPT, Scenes::theStoreRestartsUnderAHolder),
            new Mutant(Flaw.LEASES_FORGOTTEN_BY_RESTART, BELIEF, Scenes::theStoreRestartsUnderAHolder),
            new Mutant(Flaw.FIRST_READ_UNCHECKED, FENCING, Scenes::aWriteArrivesBetweenReadAndWriteOfTheNextHolder),
            new Mutant(Flaw.WRITES_UNCHECKED, FENCING, Scenes::aWriteArrivesAfterTheNextHolders),
            new Mutant(Flaw.WAITER_FORGOTTEN, ORDER, Scenes::twoWaitInLine),
            new Mutant(Flaw.WAITER_FORGOTTEN, PROGRESS, Scenes::oneWaitsInLine),
            new Mutant(Flaw.LAST_COME_FIRST_SERVED, ORDER, Scenes::twoWaitInLine),
            new Mutant(Flaw.GRANTED_THOUGH_HELD, EXCLUSION, Scenes::oneAsksWhileAnotherHolds),
            new Mutant(Flaw.EXPIRES_TOO_SOON, EXCLUSION, Scenes::aHolderIsCutOff),
            new Mutant(Flaw.EXPIRES_TOO_SOON, BELIEF, Scenes::aHolderLetsItsLeaseRunOut),
            new Mutant(Flaw.NEVER_EXPIRES, PROGRESS, Scenes::aHolderDies),
            new Mutant(Flaw.READERS_BESIDE_A_WRITER, EXCLUSION, Scenes::aReaderAsksWhileAWriterHolds),
            new Mutant(Flaw.ONE_TOKEN_FOR_ALL_READERS, TOKENS, Scenes::twoReaders),
            new Mutant(Flaw.ONE_PERMIT_TOO_MANY, EXCLUSION, Scenes::threeWantOneOfTwoPermits),
            new Mutant(Flaw.TICKETS_LEFT_BEHIND, CLEAN, Scenes::aWaiterGivesUp));

    @BeforeAll
    static void haveTime() {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60));
    }

    @TestFactory
    Stream<DynamicTest> everyMutantAndNotItsTwin() throws Exception {
        play(Flaw.NONE, MUTANTS.get(0)); // loads all classes, so that the others keep their timing
        List<DynamicTest> tests = new ArrayList<>();
        for (Mutant mutant : MUTANTS) {
            Future<Verdict> flawed = PLAYERS.submit(() -> playUntilItShows(mutant));
            Future<Verdict> twin = PLAYERS.submit(() -> play(Flaw.NONE, mutant));
            tests.add(dynamicTest(mutant.flaw + " by " + mutant.broken, () -> {
                assertThat(flawed.get().violated()).contains(mutant.broken);
                assertThat(twin.get().findings().values()).noneMatch(f -> f.violations() > 0);
                assertThat(twin.get().of(mutant.broken).outcome()).isEqualTo(Outcome.HELD);
            }));
        }
        return tests.stream();
    }

    @Test
    void everyFlawThereIs() {
        Set<Flaw> played = EnumSet.of(Flaw.NONE);
        MUTANTS.forEach(mutant -> played.add(mutant.flaw));

        assertThat(played).containsExactlyInAnyOrder(Flaw.values());
    }

    @AfterAll
    static void stop() {
        Awaitility.reset();
        PLAYERS.shutdownNow();
    }

    /** A busy machine may be too late for a flaw to matter, and once is enough to find it. */
    private static Verdict playUntilItShows(Mutant mutant) throws Exception {
        Verdict verdict = play(mutant.flaw, mutant);
        for (int plays = 1; plays < MOST_PLAYS && !verdict.violated().contains(mutant.broken); plays++) {
            verdict = play(mutant.flaw, mutant);
        }
        return verdict;
    }

    private static Verdict play(Flaw flaw, Mutant mutant) throws Exception {
        try (Stage stage = new Stage(flaw, newDirectory(flaw))) {
            mutant.scene.play(stage);
            return Checker.check(stage.end(), mutant.rules());
        }
    }

    private static Path newDirectory(Flaw flaw) throws IOException {
        return Files.createTempDirectory(directory, flaw.name());
    }
}
