package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.cli.run.Executable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The script, if what it starts is built. */
@DisplayName("./holdfast")
class LauncherTest {

    private static final Path LAUNCHER = BuiltCommand.ROOT.resolve("holdfast");

    @TempDir
    Path directory;

    @BeforeEach
    void requireJar() throws IOException {
        BuiltCommand.require();
    }

    @Test
    void startsFromAnywhereThroughASymbolicLinkAndStaysThere() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("my holdfast"), LAUNCHER);

        Done done = run(List.of(link.toString(), "run", "job", "--", "sh", "-c", "pwd; exit 9"), Map.of());

        assertThat(done.exitCode()).isEqualTo(9);
        assertThat(done.output().strip()).isEqualTo(directory.toRealPath().toString());
    }

    @Test
    void isReplacedByJavaSoThatSignalsAndProcessIdsAreRight() throws Exception {
        Process process = new ProcessBuilder(
                        LAUNCHER.toString(), "run", "--store", store(), "job", "--", "sh", "-c", "echo $PPID")
                .directory(directory.toFile())
                .redirectOutput(directory.resolve("out").toFile())
                .start();

        assertThat(process.waitFor()).isZero();
        assertThat(Files.readString(directory.resolve("out")).strip()).isEqualTo(Long.toString(process.pid()));
    }

    @Test
    void aThreadDumpStaysOutOfTheResultsOfTheCommand() throws Exception {
        String askAndWait = "kill -QUIT $PPID; for i in $(seq 300); do grep -qs 'Full thread dump' err && break;"
                + " sleep 0.1; done; echo done";
        Process process = new ProcessBuilder(
                        LAUNCHER.toString(), "run", "--store", store(), "job", "--", "sh", "-c", askAndWait)
                .directory(directory.toFile())
                .redirectOutput(directory.resolve("out").toFile())
                .redirectError(directory.resolve("err").toFile())
                .start();

        assertThat(process.waitFor()).isZero();
        assertThat(directory.resolve("err")).content().contains("Full thread dump");
        assertThat(directory.resolve("out")).hasContent("done");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "C", "POSIX", "C.UTF-8"})
    void keepsTextAndLocaleOfTheCommandAsTheyAre(String locale) throws Exception {
        Done done = run(
                List.of(
                        LAUNCHER.toString(),
                        "run",
                        "锁",
                        "--",
                        "sh",
                        "-c",
                        "echo \"$HOLDFAST_NAME $1 ${LC_ALL-unset}\"",
                        "sh",
                        "für"),
                Map.of("LC_ALL", locale, "LC_CTYPE", "", "LANG", ""));

        assertThat(done.exitCode()).as(done.output()).isZero();
        assertThat(done.output()).isEqualTo("锁 für " + (locale.isEmpty() ? "unset" : locale) + "\n");
    }

    @Test
    void anExampleRunsWithOneCommandAndNoEnvironment() throws Exception {
        Done done = run(
                List.of(
                        "env",
                        "-i",
                        "HOME=" + directory,
                        BuiltCommand.ROOT.resolve("example").toString(),
                        "order-grabbing",
                        "--store",
                        store()),
                Map.of());

        assertThat(done.exitCode()).as(done.output()).isZero();
        assertThat(done.output()).contains("What to watch:", "ann drives", "bob is too late");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nosuch | 64 | There is no example",
                "oversold-stock --sotre file:x | 64 | not understood",
                "oversold-stock --store | 64 | not understood",
                "oversold-stock --store redis://localhost:1 | 69 | cannot connect to localhost:1"
            })
    void anExampleThatCannotRunSaysSo(String line, int exitCode, String reason) throws Exception {
        List<String> words = new ArrayList<>(List.of(line.strip().split(" ")));
        words.add(0, BuiltCommand.ROOT.resolve("example").toString());

        Done done = run(words, Map.of());

        assertThat(done.exitCode()).as(done.output()).isEqualTo(exitCode);
        assertThat(done.output()).contains(reason).doesNotContain("\tat ");
    }

    @Test
    void startsServersForTorture() throws Exception {
        Done done = run(
                List.of(LAUNCHER.toString(), "torture", "--local", "redis", "--faults=kill-holder", "--cell-seconds=1"),
                Map.of());

        assertThat(done.output()).contains("1 cell run");
    }

    @Test
    void theFatJarCarriesTheProxyAndNoLaunchersOfServers() throws Exception {
        try (JarFile jar = new JarFile(BuiltCommand.JAR.toFile())) {
            assertThat(jar.stream().map(JarEntry::getName))
                    .contains("io/holdfast/proxy/TcpProxy.class")
                    .noneMatch(name -> name.startsWith("io/holdfast/servers/"))
                    .noneMatch(name -> name.startsWith("org/xerial/snappy/"));
        }
    }

    @Test
    void saysWhatIsWrongWithJavaHome() throws Exception {
        Done done = run(List.of(LAUNCHER.toString(), "--version"), Map.of("JAVA_HOME", "/nowhere"));

        assertThat(done.exitCode()).isEqualTo(70);
        assertThat(done.output()).contains("JAVA_HOME is /nowhere");
    }

    @Test
    void saysThatJavaIsMissing() throws Exception {
        Path bin = Files.createDirectory(directory.resolve("bin"));
        for (String tool : List.of("sh", "readlink", "dirname", "find", "sed")) {
            Files.createSymbolicLink(bin.resolve(tool), Executable.find(tool).orElseThrow());
        }

        Done done = run(
                List.of("/bin/sh", LAUNCHER.toString(), "--version"), Map.of("PATH", bin.toString(), "JAVA_HOME", ""));

        assertThat(done.exitCode()).isEqualTo(70);
        assertThat(done.output()).contains("Java is missing", "apt-get install");
    }

    private Done run(List<String> line, Map<String, String> environment) throws IOException, InterruptedException {
        File output = directory.resolve("output").toFile();
        ProcessBuilder builder = new ProcessBuilder(line)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output);
        builder.environment().put("HOLDFAST_STORE", store());
        builder.environment().putAll(environment);
        Process process = builder.start();
        assertThat(process.waitFor(HoldfastProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        return new Done(process.exitValue(), Files.readString(output.toPath()));
    }

    private String store() {
        return "file:" + directory.resolve("locks");
    }

    private record Done(int exitCode, String output) {}
}
