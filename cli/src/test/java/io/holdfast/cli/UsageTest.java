package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("how holdfast explains itself")
class UsageTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nonsense | nonsense",
                "rnu x | did you mean holdfast run?",
                "list | holdfast ls",
                "status x | there is no command 'status'",
                "run x echo hi | did you mean: holdfast run x -- echo hi",
                "run --wiat 5 x true | there is no option '--wiat' here; did you mean --wait?",
                "watch --for | the value of --for is missing",
                "run -n -w5 --ttl 30s x ls -l | did you mean: holdfast run -n -w5 --ttl 30s x -- ls -l",
                "run --store=file:/tmp/x echo echo | did you mean: holdfast run --store=file:/tmp/x echo -- echo",
                "run job extra -- true | 'extra'",
                "ls --prefix x | --prefix",
                "ls --sotre x | did you mean --store?",
                "run --store memory: job -- true | inside one process",
                "run --store=memory:x job -- true | file:",
                "torture memory: | inside one process",
                "torture memory:x --plan | inside one process",
                "torture file:/tmp/x --html /no/such/r.html | there is no directory /no/such. Nothing was run.",
                "torture file:/tmp/x --safety / | it is a directory",
                "bench --html /no/such/r.html | Nothing was run",
                "bench --json=/no/such/r.json | --json /no/such/r.json cannot be written",
                "ls --store reids://h | redis://",
                "run | NAME is missing",
                "run -x -- true | there is no option '-x' here",
                "show --jsno | there is no option '--jsno' here; did you mean --json?",
                "help nonsense | there is no command 'nonsense'",
                "lss --help | did you mean holdfast ls?",
                "run job | holdfast run NAME -- COMMAND",
                "run job -- | holdfast run NAME -- COMMAND",
                "run --permits two job -- true | --permits: 'two' is not a whole number",
                "--store file:/tmp/x ls | belongs behind the command",
                "completion fish | bash and zsh",
                "run job ls -l | -l",
                "run job extra -- true | extra",
                "run -- true | NAME",
                "run -n -w 1 job -- true | -n and -w",
                "run -s --permits 2 job -- true | --permits",
                "run --permits 0 job -- true | at least 1",
                "run -E 256 job -- true | between 0 and 255",
                "run -w soon job -- true | 500ms",
                "run -w -1 job -- true | -w",
                "run --ttl 0 job -- true | --ttl",
                "show | NAME",
                "prune | AGE",
                "prune often | AGE: 'often' is not a duration such as 500ms",
                "watch --interval 0 | --interval",
                "bench --scenario nonsense | crowd",
                "bench --seconds 0 | --seconds",
                "bench nonsense | memory:",
                "ls --store nonsense | memory:",
                "ls --store carrier-pigeon://loft | file:",
                "ls --store memory:x?colour=red | colour"
            })
    void wrongUsageIsOneLineThatSaysWhatToDo(String line, String hint) {
        Captured wrong = Captured.of(line.strip().split(" "));

        assertThat(wrong.exitCode()).isEqualTo(64);
        assertThat(wrong.out()).isEmpty();
        assertThat(wrong.err()).startsWith("holdfast: ").contains(hint).hasLineCount(1);
    }

    /** The class path of these tests is that of the shipped command: it has no launchers of servers. */
    @Test
    void tortureOnServersOfItsOwnNeedsASourceBuildAndSaysSo() {
        Captured local = Captured.of("torture", "--local", "redis");

        assertThat(local.exitCode()).isEqualTo(64);
        assertThat(local.err())
                .startsWith("holdfast: torture --local needs a source build")
                .contains("./holdfast torture --local")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"torture redis://localhost:1", "bench redis://localhost:1 --html /tmp/never-written.html"})
    void aStoreThatIsNotThereIsNeitherTorturedNorMeasured(String line) {
        Captured refused = Captured.of(line.split(" "));

        assertThat(refused.exitCode()).as(refused.out()).isEqualTo(69);
        assertThat(refused.out()).doesNotContain("BROKEN", "no result");
        assertThat(refused.err())
                .startsWith("holdfast: cannot use the store: cannot connect to localhost:1: Connection refused.")
                .endsWith(" Nothing was run.\n")
                .hasLineCount(1);
    }

    @Test
    void helpAndVersionAreAlsoCommands() {
        assertThat(Captured.of("help")).isEqualTo(Captured.of("--help"));
        assertThat(Captured.of("help", "run")).isEqualTo(Captured.of("run", "--help"));
        assertThat(Captured.of("version")).isEqualTo(Captured.of("--version"));
    }

    @Test
    void wrongUsageIsJsonIfAskedFor() {
        Captured wrong = Captured.of("show", "--json");

        assertThat(wrong.exitCode()).isEqualTo(64);
        assertThat(wrong.err()).startsWith("{\"error\":\"usage\",\"message\":").contains("\"exitCode\":64");
    }

    @Test
    void aloneItShowsItsHelpAsAnError() {
        Captured alone = Captured.of();

        assertThat(alone.exitCode()).isEqualTo(64);
        assertThat(alone.out()).isEmpty();
        assertThat(alone.err()).contains("Usage: holdfast", "Examples:");
    }

    @Test
    void helpListsEveryCommand() {
        Captured help = Captured.of("--help");

        assertThat(help.exitCode()).isZero();
        assertThat(help.out())
                .contains(List.of("run", "ls", "show", "watch", "release", "prune", "bench", "torture", "completion"))
                .contains("holdfast run nightly -- ./report.sh");
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "ls", "show", "watch", "release", "prune", "bench", "torture", "completion"})
    void everyCommandExplainsItselfWithAnExample(String command) {
        Captured help = Captured.of(command, "--help");

        assertThat(help.exitCode()).isZero();
        assertThat(help.err()).isEmpty();
        assertThat(help.out())
                .contains("Usage: holdfast " + command, "--json", "Examples:", "  holdfast " + command)
                .doesNotContain("@|");
        assertThat(help.out().lines()).allMatch(line -> line.length() <= 80);
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "ls", "show", "watch", "release", "prune"})
    void helpKeepsThePathOfTheDefaultStoreOnOneLine(String command) {
        assertThat(Captured.of(command, "--help").out()).contains("~/.local/state/holdfast");
    }

    @Test
    void helpOfReleaseListsTheExitCodes() {
        assertThat(Captured.of("release", "--help").out()).contains("Exit codes:", "0", "64", "69");
    }

    @Test
    void helpOfRunListsTheExitCodes() {
        assertThat(Captured.of("run", "--help").out()).contains("Exit codes:", "64", "69", "70", "75", "126", "127");
    }

    @Test
    void completionKnowsCommandsAndOptions() {
        Captured completion = Captured.of("completion");

        assertThat(completion.exitCode()).isZero();
        assertThat(completion.out()).contains("release", "--hold-at-least", "complete");
    }

    @Test
    void tellsItsVersion() {
        assertThat(Captured.of("--version").out()).startsWith("holdfast ");
    }
}
