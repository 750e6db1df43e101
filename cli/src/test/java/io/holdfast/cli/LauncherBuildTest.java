package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

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
        Files.createDirectories(home.resolve("cli/src/main"));
        Files.createFile(home.resolve("pom.xml"));
        jar = home.resolve("cli/target/holdfast.jar");
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

    /** @param maven a script; {@code $output} is the jar it is to write */
    private void start(String maven) throws IOException, InterruptedException {
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
        assertThat(builder.start().waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(home.resolve("output")).content().contains("holdfast: building");
    }

    private static Object fileOf(Path path) throws IOException {
        return Files.readAttributes(path, BasicFileAttributes.class).fileKey();
    }
}
