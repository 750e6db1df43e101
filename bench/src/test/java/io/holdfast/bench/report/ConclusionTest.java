package io.holdfast.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.bench.ContenderSpec.Kind;
import io.holdfast.bench.Figure;
import io.holdfast.bench.Load;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Report;
import io.holdfast.bench.Scenario;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("what a bench says in words")
class ConclusionTest {

    private static final Measurement QUEUED = run("queued", 120_000, 5_000, 40_000, 0);

    @Test
    void comparesTheQueueWithPollingAndTellsWhoStarved() {
        Report report = report(QUEUED, run("polling", 10_000, 60_000, 2_280_000, 3));

        assertThat(String.join(" ", Conclusion.of(report, "redis://here")))
                .contains("the queue is 12.0 × polling")
                .contains("longer than 5.00 ms in the queue and 60.0 ms polling")
                .contains("the longest took 40.0 ms and 2.28 s")
                .contains("Polling starved 3 of 16 threads", "Nobody starved in the queue.")
                .contains("local handoff");
    }

    @Test
    void saysSoWherePollingIsAhead() {
        Report report = report(QUEUED, run("polling", 240_000, 1_000, 50_000, 0));

        assertThat(String.join(" ", Conclusion.of(report, "redis://here")))
                .contains("polling is 2.00 × the queue", "Nobody starved")
                .doesNotContain("local handoff");
    }

    @Test
    void saysWhoseRateItIsWherePollingIsAheadAndStarvesOthers() {
        Report report = report(QUEUED, run("polling", 240_000, 1_000, 2_000_000, 2));

        assertThat(String.join(" ", Conclusion.of(report, "redis://here")))
                .contains("polling is 2.00 × the queue", "starved 2 of 16", "kept the lock from the others");
    }

    @Test
    void saysFirstThatTheMachineWasBusy() {
        Report report = new Report(
                Map.of(Report.BUSY, "load 14.0 on 2 cores before the run"),
                List.of(QUEUED, run("polling", 10_000, 60_000, 2_280_000, 3)));

        assertThat(Conclusion.of(report, "redis://here").get(0))
                .contains("Measure again", "load 14.0 on 2 cores before the run");
    }

    @Test
    void saysNothingOfWhatWasNotMeasured() {
        assertThat(Conclusion.of(report(QUEUED), "redis://here")).isEmpty();
    }

    @Test
    void standsInTheTableAndInTheTileWithThoseWhoStarved() {
        Report report = report(QUEUED, run("polling", 10_000, 60_000, 2_280_000, 3));

        assertThat(ConsoleTable.lines(report)).anyMatch(line -> line.contains("Polling starved 3 of 16 threads"));
        String page = HtmlReport.of(report);
        String tile = page.substring(page.indexOf("class=\"tile\""), page.indexOf("</section>"));
        assertThat(tile).contains("class=\"conclusion\"", "<em>starved 3 of 16 threads</em>");
    }

    private static Report report(Measurement... runs) {
        return new Report(Map.of("cores", "2"), List.of(runs));
    }

    private static Measurement run(String contender, double rate, double p99, double longest, double starved) {
        return new Measurement(
                "redis://here",
                contender,
                Kind.OURS,
                Scenario.PROCESSES,
                Load.of(4, 16),
                Optional.empty(),
                Map.of(
                        Figure.RATE,
                        rate,
                        Figure.P99,
                        p99,
                        Figure.LONGEST_WAIT,
                        longest,
                        Figure.STARVED_THREADS,
                        starved,
                        Figure.MOST_PER_THREAD,
                        10.0,
                        Figure.LEAST_PER_THREAD,
                        starved > 0 ? 0.0 : 5.0),
                List.of(),
                List.of());
    }
}
