package io.holdfast.torture.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.torture.check.Counts;
import io.holdfast.torture.check.Finding.Outcome;
import io.holdfast.torture.check.Promise;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.stand.LocalStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("what is said of a run")
class ReportTest {

    private static final Path STORE_PAGES = Path.of("..", "docs", "stores");

    @TempDir
    Path directory;

    static List<DocumentedLimits.Limit> limits() {
        return DocumentedLimits.ALL;
    }

    @ParameterizedTest
    @MethodSource("limits")
    void aLimitIsDocumentedInTheStoresPage(DocumentedLimits.Limit limit) throws IOException {
        String page = Files.readString(STORE_PAGES.resolve(limit.page())).replaceAll("\\s+", " ");

        assertThat(page).contains(limit.words());
        assertThat(Arrays.stream(LocalStore.values()).map(LocalStore::word)).containsAll(limit.stores());
        assertThat(limit.titles())
                .allMatch(title -> title.equals("mixed")
                        || Arrays.stream(Fault.values())
                                .anyMatch(fault -> fault.word().equals(title)));
    }

    @Test
    void aBreachIsALimitOnlyWhereItIsDocumented() {
        assertThat(summary("redis", "server-wipe", Promise.EXCLUSION).standing(Promise.EXCLUSION))
                .isEqualTo(Standing.DOCUMENTED_LIMIT);
        assertThat(summary("redis", "pause", Promise.EXCLUSION).standing(Promise.EXCLUSION))
                .isEqualTo(Standing.BROKEN);
        assertThat(summary("redis", "server-wipe", Promise.FENCING).standing(Promise.FENCING))
                .isEqualTo(Standing.BROKEN);
    }

    @Test
    void aBrokenPromiseIsBadAndALimitIsNot() {
        assertThat(summary("redis", "pause", Promise.EXCLUSION).isBad()).isTrue();
        assertThat(summary("redis", "server-wipe", Promise.EXCLUSION).isBad()).isFalse();
    }

    @Test
    void aBusyMachineIsNeverABreach() {
        CellSummary summary = summary("redis", "mixed", Promise.PROGRESS, Outcome.NOT_JUDGED);

        assertThat(summary.standing(Promise.PROGRESS)).isEqualTo(Standing.NOT_JUDGED);
        assertThat(summary.isBroken()).isFalse();
        assertThat(summary.isJudged()).isFalse();
        Headline headline = Headline.of(List.of(summary));
        assertThat(headline.outcome()).isEqualTo(Headline.Outcome.NOT_JUDGED);
        assertThat(headline.words())
                .startsWith("NOT JUDGED: progress")
                .contains("redis mixed", "too busy")
                .doesNotContain("BROKEN");
    }

    @Test
    void theHeadlineNamesTheWorst() {
        CellSummary broken = summary("redis", "pause", Promise.EXCLUSION);
        CellSummary busy = summary("etcd", "cut", Promise.PROGRESS, Outcome.NOT_JUDGED);
        CellSummary limited = summary("redis", "server-wipe", Promise.EXCLUSION);

        assertThat(Headline.of(List.of(busy, broken, limited)).words())
                .startsWith("BROKEN: exclusion (at most one valid lease at a time) on redis pause.");
        assertThat(Headline.of(List.of(limited)).words())
                .startsWith("KEPT: every promise, where it is made; documented limits showed in 1 cell. 1 cell run,");
        assertThat(Headline.of(List.of()).outcome()).isEqualTo(Headline.Outcome.NOT_JUDGED);
    }

    @Test
    void thePageBeginsWithTheVerdict() throws IOException {
        Path page = directory.resolve("page.html");

        new HtmlReport().write(page, new Headline(Headline.Outcome.BROKEN, "BROKEN: exclusion <b> on redis."));

        assertThat(Files.readString(page))
                .contains("{\"verdict\":\"BROKEN: exclusion <b> on redis.\",\"outcome\":\"broken\"")
                .contains("'verdict ' + data.outcome");
    }

    @Test
    void resultsOfPartsAreFoundAgain() throws IOException {
        Results results = new Results(directory);
        CellSummary summary = summary("etcd", "cut", Promise.ORDER);

        results.put(summary);

        assertThat(results.find("etcd-cut")).contains(summary);
        assertThat(results.find("etcd-pause")).isEmpty();
        assertThat(new Results(directory).all()).containsExactly(summary);
    }

    @Test
    void aCellThatCouldNotBeJudgedIsRunAgain() throws IOException {
        Results results = new Results(directory);

        results.put(summary("etcd", "cut", Promise.PROGRESS, Outcome.NOT_JUDGED));

        assertThat(results.find("etcd-cut")).isEmpty();
    }

    @Test
    void thePageShowsBreachesLimitsAndWhatWasNotRun() {
        List<CellSummary> summaries = List.of(
                summary("redis", "pause", Promise.EXCLUSION),
                summary("redis", "server-wipe", Promise.EXCLUSION),
                new CellSummary(
                        "etcd",
                        "partition",
                        0,
                        1,
                        "run as root",
                        Map.of(),
                        0,
                        0,
                        0,
                        Counts.Writes.NONE,
                        Counts.Writes.NONE,
                        List.of(),
                        "0a1b2c3"));

        String page = SafetyPage.text(summaries, LocalDate.of(2026, 2, 3));

        assertThat(page)
                .contains("on 2026-02-03")
                .contains("| pause | **BROKEN** (3) | ✓ |")
                .contains("| server-wipe | limit (3) | ✓ |")
                .contains("(stores/redis.md)")
                .contains("20.0 % / 0 |")
                .contains("- etcd, partition: run as root");
    }

    @Test
    void thePageSaysWhichCodeEveryStoreWasRunOn() {
        CellSummary older = summary("redis", "cut", Promise.ORDER, Outcome.HELD, "");
        List<CellSummary> summaries =
                List.of(summary("redis", "pause", Promise.ORDER), older, summary("etcd", "cut", Promise.ORDER));

        assertThat(SafetyPage.text(summaries, LocalDate.of(2026, 2, 3)))
                .contains("Run on an unknown commit (1 cell), commit `0a1b2c3` (1 cell).")
                .contains("Run on commit `0a1b2c3`.");
    }

    private static CellSummary summary(String store, String title, Promise broken) {
        return summary(store, title, broken, Outcome.VIOLATED);
    }

    private static CellSummary summary(String store, String title, Promise broken, Outcome outcome) {
        return summary(store, title, broken, outcome, "0a1b2c3");
    }

    private static CellSummary summary(String store, String title, Promise broken, Outcome outcome, String commit) {
        Map<Promise, CellSummary.Found> promises = new EnumMap<>(Promise.class);
        for (Promise promise : Promise.values()) {
            promises.put(
                    promise,
                    promise == broken
                            ? new CellSummary.Found(outcome, 10, 3, "two at once \"here\"")
                            : new CellSummary.Found(Outcome.HELD, 10, 0, ""));
        }
        return new CellSummary(
                store,
                title,
                60,
                Long.MAX_VALUE,
                "",
                promises,
                100,
                50,
                7,
                new Counts.Writes(10, 0, 2),
                new Counts.Writes(10, 2, 0),
                List.of(),
                commit);
    }
}
