package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script in a source tree of its own, with a stand-in for Maven. */
@DisplayName("./holdfast, when it builds")
class LauncherBuildTest {

    private static final Path LAUNCHER = Path.of("").toAbsolutePath().resolveSibling("holdfast");

    @TempDir
    Path home;

    private Path jar;

    @BeforeEach
    void makeATreeWhoseJarIsOlderThanItsSources() throws IOException {
        Files.copy(LAUNCHER, home.resolve("holdfast"));
        Files.createDirectory(home.resolve("packaging"));
        Files.copy(LAUNCHER.resolveSibling("packaging/launch.sh"), home.resolve("packaging/launch.sh"));
        Files.createDirectories(home.resolve("cli/src/main"));
        Files.createFile(home.resolve("pom.xml"));
        jar = home.resolve(".built/holdfast.jar");
        Files.createDirectories(jar.getParent());
        Files.writeString(jar, "old");
        Files.setLastModifiedTime(jar, FileTime.from(Instant.EPOCH));
    }

    @Test
    void aBuildThatBreaksOffLeavesTheJarAsItWas() throws Exception {
        start("printf half > \"$output\"; exit 137");

        assertThat(jar).hasContent("old");
    }

    @Test
    void aBuildThatFailsSaysWhyAndNotHowToUseMaven() throws Exception {
        String said =
                run("printf '\\033[0m[ERROR] Could not create local repository at /x\\n[ERROR] \\n[ERROR] Re-run Maven"
                        + " using -X\\n[ERROR] [Help 1] http://x\\n'; exit 1");

        assertThat(said)
                .contains("Could not create local repository at /x", "build.log")
                .doesNotContain("Re-run", "Help 1");
    }

    @Test
    void theNextStartBuildsAnewAfterABuildThatBrokeOff() throws Exception {
        start("printf half > \"$output\"; exit 137");
        start("printf whole > \"$output\"");

        assertThat(jar).hasContent("whole");
    }

    @Test
    void aNewJarLeavesTheOldOneToThoseWhoRunIt() throws Exception {
        Object old = fileOf(jar);

        start("printf whole > \"$output\"");

        assertThat(jar).hasContent("whole");
        assertThat(fileOf(jar)).isNotEqualTo(old);
    }

    @Test
    void whatMavenHasJustPackagedIsTakenAndNotBuiltAgain() throws Exception {
        Path packaged = Files.createDirectories(home.resolve("cli/target")).resolve("holdfast.jar");
        Files.writeString(packaged, "packaged");
        Files.writeString(
                Files.createDirectories(home.resolve("torture-local/target")).resolve("holdfast-local.jar"), "local");

        assertThat(run("exit 1")).doesNotContain("holdfast: building");

        assertThat(jar).hasContent("packaged");
        assertThat(fileOf(jar)).isNotEqualTo(fileOf(packaged));
    }

    @Test
    void mavensOwnPackageAndCleanLeaveTheJarToThoseWhoRunIt() throws Exception {
        whatMavenHasJustPackagedIsTakenAndNotBuiltAgain();
        Files.writeString(home.resolve("cli/target/holdfast.jar"), "half of the next");
        Files.delete(home.resolve("cli/target/holdfast.jar"));

        assertThat(jar).hasContent("packaged");
    }

    @Test
    void anotherUserGoesOnWithTheJarThereIsAfterThePullOfTheOwner() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can be another user");
        assertThat(new ProcessBuilder("chmod", "-R", "a+rX", home.toString())
                        .start()
                        .waitFor())
                .isZero();

        Process process = new ProcessBuilder(
                        "setpriv",
                        "--reuid=65534",
                        "--regid=65534",
                        "--clear-groups",
                        home.resolve("holdfast").toString(),
                        "--version")
                .redirectErrorStream(true)
                .redirectOutput(home.resolve("output").toFile())
                .start();

        assertThat(process.waitFor(HoldfastProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        // Java was started with the old jar, which is no jar here.
        assertThat(home.resolve("output"))
                .content()
                .contains("io.holdfast.cli.Main")
                .doesNotContain("holdfast:");
        assertThat(jar).hasContent("old");
    }

    /** @param maven a script; {@code $output} is the jar it is to write */
    private void start(String maven) throws IOException, InterruptedException {
        assertThat(run(maven)).contains("holdfast: building");
    }

    private String run(String maven) throws IOException, InterruptedException {
        Path bin = Files.createDirectories(home.resolve("bin"));
        Path mvn = bin.resolve("mvn");
        Files.writeString(mvn, """
                #!/bin/sh
                output=%s
                for argument; do
                    case $argument in
                        -Dfat.jar=*) output=${argument#*=} ;;
                        -Dlocal.jar=*) printf local > "${argument#*=}" ;;
                    esac
                done
                %s
                """.formatted(jar, maven));
        assertThat(mvn.toFile().setExecutable(true)).isTrue();
        ProcessBuilder builder = new ProcessBuilder(home.resolve("holdfast").toString(), "--version")
                .redirectErrorStream(true)
                .redirectOutput(home.resolve("output").toFile());
        builder.environment().merge("PATH", bin.toString(), (path, ours) -> ours + ":" + path);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        assertThat(builder.start().waitFor(HoldfastProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        return Files.readString(home.resolve("output"));
    }

    private static Object fileOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }
}
