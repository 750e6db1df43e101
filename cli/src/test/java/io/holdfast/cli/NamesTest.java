package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("how names are written")
class NamesTest {

    private final String store = "memory:" + UUID.randomUUID();
    private final Holdfast holdfast = Holdfast.connect(store);
    private final List<Lease> held = new ArrayList<>();

    @AfterEach
    void close() {
        held.forEach(Lease::close);
        holdfast.close();
    }

    private void hold(String... names) throws InterruptedException {
        for (String name : names) {
            held.add(holdfast.lock(name).acquire());
        }
    }

    @Test
    void lsTellsNamesApartThatLookAlike() throws InterruptedException {
        hold("job", "job ", " job", "\u200bjob", "job\\u200b", "job\u200b", "jo\u0301b", "j\u00f3b", "\"job\"", "jo b");

        List<String> names = Captured.of("ls", "--store", store)
                .out()
                .lines()
                .skip(1)
                .map(line -> line.replaceFirst("  +\\S+ pid .*", ""))
                .toList();

        assertThat(names)
                .containsExactlyInAnyOrder(
                        "job",
                        "\"job \"",
                        "\" job\"",
                        "\"\\u200bjob\"",
                        "\"job\\\\u200b\"",
                        "\"job\\u200b\"",
                        "\"jo\\u0301b\"",
                        "j\u00f3b",
                        "\"\\\"job\\\"\"",
                        "\"jo b\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"a\u202eb", "a\nb", "a\u001b[2Jb", "a\u2028b", "a\u00a0b", "a\u3164b", "a\ue000b", "a\ufe0fb"})
    void nothingInvisibleReachesTheTerminal(String name) throws InterruptedException {
        hold(name);
        String strange = name.substring(1, 2);
        String written = String.format("\"a\\u%04x", (int) strange.charAt(0));

        List<Captured> all = List.of(
                Captured.of("ls", "--store", store),
                Captured.of("show", name, "--store", store),
                Captured.of("watch", "--for", "1ms", "--interval", "1ms", "--store", store),
                Captured.of("release", name, "--store", store),
                Captured.of("release", name, "--force", "--store", store));

        for (Captured one : all) {
            assertThat(one.out() + one.err()).contains(written).doesNotContain("a" + strange);
        }
    }

    @Test
    void aMessageOfTheLibraryIsOneLineWhateverTheName(@TempDir Path locks) {
        Captured refused = Captured.of("run", "--ttl", "1ms", "--store", "file:" + locks, "a\nb\u202e", "--", "true");

        assertThat(refused.exitCode()).isEqualTo(64);
        assertThat(refused.err())
                .hasLineCount(1)
                .contains("\"a\\u000ab\\u202e\"")
                .doesNotContain("\u202e");
    }

    @Test
    void aLongNameDoesNotPadTheRowsOfOthers() throws InterruptedException {
        hold("job", "x".repeat(400));

        List<String> lines = Captured.of("ls", "--store", store).out().lines().toList();

        assertThat(lines.get(0).length()).isLessThan(150);
        assertThat(lines.stream().filter(line -> line.startsWith("job ")))
                .singleElement()
                .satisfies(line -> assertThat(line.length()).isLessThan(150));
        assertThat(lines).anyMatch(line -> line.startsWith("x".repeat(400) + "  "));
    }

    @Test
    void columnsStandBelowEachOtherBesideWideCharacters() throws InterruptedException {
        hold("\u9501\u4e00\u4e8c", "ordinary");

        List<String> lines = Captured.of("ls", "--store", store).out().lines().toList();

        assertThat(lines.get(1).indexOf(" pid ")).isEqualTo(lines.get(2).indexOf(" pid ") + 3);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "job | job",
                "stock/sku-42 | stock/sku-42",
                "my job | 'my job'",
                "bob's | 'bob'\\''s'",
                "$x | '$x'",
                "`a\nb` | `$'a\\nb'`",
                "`a\u200bb\\'` | `$'a\\u200bb\\\\\\''`",
                "-n | -- -n"
            })
    void aHintIsACommandThatAShellTakesAsItIs(String name, String written) throws InterruptedException {
        hold(name);

        assertThat(Captured.of("release", "--store", store, "--", name).err())
                .contains("holdfast release --force --store " + store + " " + written + "\n");
    }
}
