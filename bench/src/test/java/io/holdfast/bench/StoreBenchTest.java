package io.holdfast.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.bench.HoldfastContender.Mode;
import io.holdfast.bench.report.ConsoleTable;
import io.holdfast.bench.report.HtmlReport;
import io.holdfast.bench.server.StoreAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("a bench of the embedded stores")
class StoreBenchTest {

    /** Long enough that a busy machine lets at least one of the processes have the lock once. */
    private static final Pace SHORT = Pace.ofSeconds(0.6);

    @TempDir
    Path directory;

    @Test
    void hasAResultForEveryRunAsFiguresTableAndPage() {
        List<StoreBench.Progress> progress = new ArrayList<>();
        StoreBench bench = new StoreBench(
                List.of(
                        StoreAddress.of("memory:bench"),
                        StoreAddress.of("file:" + directory).called("file:")),
                List.of(Mode.QUEUED, Mode.POLLING),
                EnumSet.of(Scenario.FREE, Scenario.CROWD, Scenario.PROCESSES, Scenario.NETWORK),
                SHORT);

        Report report = bench.run(progress::add);

        assertThat(report.measurements())
                .extracting(Measurement::key)
                .containsExactly(
                        "memory:bench|queued|free|1",
                        "memory:bench|queued|crowd|16",
                        "memory:bench|polling|crowd|16",
                        "file:|queued|free|1",
                        "file:|queued|crowd|16",
                        "file:|queued|processes|16",
                        "file:|polling|crowd|16",
                        "file:|polling|processes|16");
        assertThat(report.measurements()).allSatisfy(StoreBenchTest::isPlausible);
        assertThat(progress)
                .hasSize(9)
                .last()
                .extracting(StoreBench.Progress::done)
                .isEqualTo(8);
        assertThat(Report.fromJson(report.toJson()).toJson()).isEqualTo(report.toJson());
        assertThat(ConsoleTable.lines(report)).anyMatch(line -> line.contains("4 JVMs x 4"));
        assertThat(HtmlReport.of(report))
                .contains("<svg", "time to acquire", "CPU time per acquisition")
                .doesNotContain("src=", "href=", "<script", "NaN", "Infinity");
    }

    @Test
    void aStoreThatCannotBeHadIsAReasonAndNotTheEnd() {
        StoreBench bench = new StoreBench(
                List.of(StoreAddress.of("carrier-pigeon://loft"), StoreAddress.of("memory:bench")),
                List.of(Mode.QUEUED),
                EnumSet.of(Scenario.FREE),
                SHORT);

        Report report = bench.run(progress -> {});

        assertThat(report.measurements().get(0).refused()).get().asString().contains("carrier-pigeon");
        assertThat(report.measurements().get(1).refused()).isEmpty();
        assertThat(report.hasRefusals()).isTrue();
        assertThat(HtmlReport.of(report)).contains("no result");
    }

    private static void isPlausible(Measurement run) {
        assertThat(run.refused()).isEmpty();
        assertThat(run.figure(Figure.RATE).orElseThrow()).isPositive();
        assertThat(run.figure(Figure.P50).orElseThrow())
                .isPositive()
                .isLessThanOrEqualTo(run.figure(Figure.P99).orElseThrow());
        assertThat(run.figure(Figure.LONGEST_WAIT).orElseThrow())
                .isGreaterThanOrEqualTo(run.figure(Figure.P50).orElseThrow());
        assertThat(run.figure(Figure.MOST_PER_THREAD).orElseThrow())
                .isGreaterThanOrEqualTo(run.figure(Figure.LEAST_PER_THREAD).orElseThrow());
        assertThat(run.series()).hasSize(20);
        assertThat(run.distribution()).hasSizeGreaterThan(10);
    }
}
