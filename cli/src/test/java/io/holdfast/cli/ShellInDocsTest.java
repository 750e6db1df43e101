package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.Redaction;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine.ParameterException;

/** Blocks of shell in the pages: {@code ```sh}. What cannot be run here stands in {@code ```console}. */
@DisplayName("shell in the pages")
class ShellInDocsTest {

    private static final Pattern BLOCK = Pattern.compile("(?ms)^```(?:sh|console)\n(.*?)^```$");
    private static final Pattern RUNNABLE = Pattern.compile("(?ms)^```sh\n(.*?)^```$");
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|([^\\s;|&]+)");

    @TempDir
    Path directory;

    @TestFactory
    Stream<DynamicTest> usesCommandsAndOptionsThereAre() throws IOException {
        List<DynamicTest> tests = new ArrayList<>();
        for (Path page : pages()) {
            for (String line : commandsIn(Files.readString(page))) {
                tests.add(DynamicTest.dynamicTest(
                        BuiltCommand.ROOT.relativize(page) + ": " + line,
                        () -> assertThat(parse(words(line))).isEmpty()));
            }
        }
        assertThat(tests).hasSizeGreaterThan(40);
        return tests.stream();
    }

    @Test
    void isNotTakenForGranted() {
        assertThat(parse(words("holdfast run --no-such-option x -- true"))).isNotEmpty();
        assertThat(words("holdfast run 'a b' -- sh -c \"x y\"   # note"))
                .containsExactly("run", "a b", "--", "sh", "-c", "x y");
    }

    @Test
    void runsInTheQuickStart() throws Exception {
        BuiltCommand.require();
        Path commands = Files.createDirectory(directory.resolve("bin"));
        Files.createSymbolicLink(commands.resolve("holdfast"), BuiltCommand.ROOT.resolve("holdfast"));
        StringBuilder script = new StringBuilder("set -e\nPATH=" + commands + ":$PATH\n");
        RUNNABLE.matcher(Files.readString(BuiltCommand.ROOT.resolve("docs/quick-start.md")))
                .results()
                .forEach(block -> script.append(block.group(1)));
        File output = directory.resolve("output").toFile();
        ProcessBuilder builder = new ProcessBuilder("sh", "-c", script.toString())
                .redirectErrorStream(true)
                .redirectOutput(output);
        builder.environment().keySet().removeIf(variable -> variable.startsWith("HOLDFAST_"));
        builder.environment().putAll(Map.of("HOME", directory.toString(), "XDG_STATE_HOME", directory.toString()));

        Process process = builder.start();

        assertThat(process.waitFor(HoldfastProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        String said = Files.readString(output.toPath());
        assertThat(process.exitValue()).as(said).isZero();
        assertThat(said)
                .contains("I hold the lock", "one begins\none ends\n", "two begins\ntwo ends\n")
                .contains("exit code 1: somebody has it", "held by")
                .doesNotContain("never seen");
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        for (String place : List.of("", "docs", "docs/stores")) {
            try (Stream<Path> files = Files.list(BuiltCommand.ROOT.resolve(place))) {
                files.filter(file -> file.toString().endsWith(".md")).sorted().forEach(pages::add);
            }
        }
        return pages;
    }

    /** What begins with {@code holdfast} or {@code ./holdfast}, at the start of a line, behind variables or a semicolon. */
    private static List<String> commandsIn(String page) {
        return BLOCK.matcher(page)
                .results()
                .flatMap(block -> block.group(1).lines())
                .flatMap(line -> Stream.of(line.split("; ")))
                .map(line -> line.replaceFirst("^\\$ ", "").replaceFirst("^(\\w+=\\S+ )+", ""))
                .filter(line -> line.matches("(\\./)?holdfast .*"))
                .toList();
    }

    private static List<String> words(String line) {
        String withoutNote = line.replaceFirst("\\s[#>|&] .*", "").replaceFirst("(^\\./)?holdfast ", "");
        return WORD.matcher(withoutNote).results().map(ShellInDocsTest::word).toList();
    }

    private static String word(MatchResult found) {
        for (int group = 1; group <= 3; group++) {
            if (found.group(group) != null) {
                return found.group(group);
            }
        }
        throw new IllegalStateException();
    }

    /** What is wrong with it. */
    private static String parse(List<String> arguments) {
        Main.Invocation invocation = Main.Invocation.of(arguments.toArray(String[]::new));
        Output output = new Output(System.out, System.err, false, Redaction.of(new String[0], Map.of()));
        try {
            Commands.commandLine(invocation, output).parseArgs(invocation.own().toArray(String[]::new));
            return "";
        } catch (ParameterException e) {
            return e.getMessage();
        }
    }
}
