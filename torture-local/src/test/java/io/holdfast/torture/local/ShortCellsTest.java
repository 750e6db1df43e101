package io.holdfast.torture.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.torture.Campaign;
import io.holdfast.torture.Job;
import io.holdfast.torture.cell.Cell;
import io.holdfast.torture.cell.CellResult;
import io.holdfast.torture.check.Promise;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.report.CellSummary;
import io.holdfast.torture.report.Results;
import io.holdfast.torture.report.Standing;
import io.holdfast.torture.stand.LocalStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

@DisplayName("ten seconds of kills, pauses and cuts on every store")
class ShortCellsTest {

    private static final Set<Fault> WORST = EnumSet.of(Fault.KILL_HOLDER, Fault.PAUSE, Fault.CUT);

    private static final Set<Promise> SAFETY =
            EnumSet.of(Promise.EXCLUSION, Promise.BELIEF, Promise.TOKENS, Promise.FENCING, Promise.CLEAN);

    private static final Job.Terms TERMS = new Job.Terms(Duration.ofSeconds(10), Duration.ofSeconds(2), 3, 20_260_701);

    /** Histories of cells that went wrong stay here for whoever looks. */
    private static final Path KEPT = Path.of("target", "torture");

    /** Several at a time: workers mostly sleep. */
    @TestFactory
    Stream<DynamicTest> everyPromiseIsKept() throws Exception {
        Path directory = Files.createTempDirectory(Files.createDirectories(KEPT), "run-");
        List<Job> jobs = Arrays.stream(LocalStore.values())
                // What these differ in from the others is in what happens to servers.
                .filter(store -> store != LocalStore.SENTINEL_REPLICAS && store != LocalStore.CLUSTER)
                .map(store -> Job.local(store, "short", possible(store), TERMS))
                .toList();

        List<CellSummary> summaries = new Campaign(jobs, 4, directory.toAbsolutePath(), new Silent()).run();

        return summaries.stream().map(summary -> DynamicTest.dynamicTest(summary.store(), () -> judge(summary)));
    }

    private static Set<Fault> possible(LocalStore store) {
        return WORST.stream().filter(store.faults()::contains).collect(Collectors.toSet());
    }

    private static void judge(CellSummary summary) {
        assertThat(summary.notRun()).isEmpty();
        // A machine too busy to serve anybody in time is no breach; safety is promised all the same.
        assertThat(summary.isBroken()).describedAs(Results.json(summary)).isFalse();
        assertThat(summary.troubles()).isEmpty();
        for (Promise promise : SAFETY) {
            assertThat(summary.standing(promise))
                    .describedAs(Results.json(summary))
                    .isNotEqualTo(Standing.BROKEN);
        }
        // Otherwise nothing was judged.
        assertThat(summary.faults()).isPositive();
        assertThat(summary.grants()).isGreaterThan(10);
        assertThat(summary.of(Promise.EXCLUSION).tested()).isPositive();
        assertThat(summary.of(Promise.FENCING).tested()).isPositive();
        assertThat(summary.of(Promise.CLEAN).tested()).isPositive();
    }

    private static final class Silent implements Campaign.Listener {
        @Override
        public void started(Cell cell) {}

        @Override
        public void at(Cell cell, String what) {}

        @Override
        public void judged(CellResult result, CellSummary summary) {}

        @Override
        public void notRun(Cell cell, CellSummary summary) {}
    }
}
