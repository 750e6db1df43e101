package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.cli.run.Executable;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code ./package} makes, installed and used as on a machine of somebody else. */
@DisplayName("the packages of the command")
class PackageTest {

    private static final String NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups ";

    /** The environment of nearly every cron. */
    private static final String CRON = "env -i HOME=$PWD/home LOGNAME=nobody SHELL=/bin/sh PATH=/usr/bin:/bin ";

    @TempDir
    static Path made;

    @TempDir
    Path directory;

    private Path unpacked;

    @BeforeAll
    static void makeThem() throws Exception {
        BuiltCommand.require();
        Done done = run(made, BuiltCommand.ROOT + "/package --jar " + BuiltCommand.JAR + " --output " + made);
        assertThat(done.exitCode()).as(done.output()).isZero();
    }

    @BeforeEach
    void unpack() throws Exception {
        good("chmod 755 . && mkdir -m 777 home locks && tar -xf " + file(".tar.gz"));
        try (Stream<Path> entries = Files.list(directory)) {
            unpacked = entries.filter(path -> path.getFileName().toString().startsWith("holdfast-"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"env -i ", CRON, CRON + "LC_ALL=C "})
    void theArchiveRunsWhereItIsUnpackedForAnotherUserWhoMayOnlyRead(String environment) throws Exception {
        requireRoot();
        good("chmod -R a-w,a+rX " + unpacked);
        String before = good("find " + unpacked + " | sort");

        String said = good(NOBODY + environment + unpacked + "/bin/holdfast run --store file:$PWD/locks nächtlich --"
                + " sh -c 'echo \"$HOLDFAST_NAME by $(id -u)\"'");

        assertThat(said).isEqualTo("nächtlich by 65534\n");
        assertThat(good("find " + unpacked + " | sort")).isEqualTo(before);
    }

    @Test
    void anUpgradeAndARemovalLeaveRunningJobsAlone() throws Exception {
        Path prefix = directory.resolve("prefix");
        good(unpacked + "/install --no-archive --prefix " + prefix);
        Process job = start(prefix
                + "/bin/holdfast run --store file:$PWD/locks job -- sh -c 'touch began; until [ -e go ]; do sleep 0.1;"
                + " done; exit 7'");
        await().atMost(HoldfastProcess.PATIENCE).until(() -> Files.exists(directory.resolve("began")));

        Files.writeString(unpacked.resolve("etc/holdfast.conf"), "HOLDFAST_STORE=file:/x\n");
        good(unpacked + "/install --no-archive --prefix " + prefix);
        assertThat(good("cat " + prefix + "/etc/holdfast.conf")).doesNotContain("file:/x");
        assertThat(run(directory, prefix + "/bin/holdfast run --store file:$PWD/locks -n job -- true")
                        .exitCode())
                .isEqualTo(1);
        good(unpacked + "/install --remove --prefix " + prefix);
        Files.createFile(directory.resolve("go"));

        assertThat(job.waitFor(HoldfastProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        assertThat(job.exitValue()).isEqualTo(7);
        assertThat(prefix.resolve("bin/holdfast")).doesNotExist();
        assertThat(prefix.resolve("lib/holdfast")).doesNotExist();
        assertThat(good(unpacked + "/bin/holdfast ls --store file:$PWD/locks --json"))
                .isEqualTo("[]\n");
    }

    @Test
    void whoMayNotInstallThereIsToldWhereElse() throws Exception {
        requireRoot();
        good("chmod -R a+rX " + unpacked + " && mkdir -m 755 roots");

        Done refused = run(directory, NOBODY + unpacked + "/install --prefix $PWD/roots");

        assertThat(refused.exitCode()).isEqualTo(73);
        assertThat(refused.output())
                .contains("roots cannot be written to", "--prefix ~/.local")
                .hasLineCount(1);
    }

    @Test
    void theSettingsNameTheStoreUnlessTheEnvironmentDoes() throws Exception {
        Files.writeString(unpacked.resolve("etc/holdfast.conf"), "# ours\n\nHOLDFAST_STORE=memory:\n");

        Done settings = run(directory, unpacked + "/bin/holdfast run job -- true");
        Done environment =
                run(directory, "HOLDFAST_STORE=file:$PWD/locks " + unpacked + "/bin/holdfast run job -- true");

        assertThat(settings.output()).contains("memory: keeps locks inside one process");
        assertThat(environment.exitCode()).as(environment.output()).isZero();
    }

    @Test
    void settingsThatAreNotUnderstoodOrMayNotBeReadAreNotPassedOver() throws Exception {
        requireRoot();
        Path settings = unpacked.resolve("etc/holdfast.conf");
        String command = NOBODY + "env -i PATH=/usr/bin:/bin " + unpacked + "/bin/holdfast ";
        Files.writeString(settings, "HOLDFAST_STOER=redis://here\n");

        Done misspelt = run(directory, command + "run job -- true");
        good("chmod 600 " + settings);
        Done secret = run(directory, command + "run job -- true");

        assertThat(misspelt.exitCode()).isEqualTo(64);
        assertThat(misspelt.output()).contains("holdfast.conf, line 1: not understood");
        assertThat(secret.exitCode()).isEqualTo(64);
        assertThat(secret.output()).contains("may not be read by nobody", "--store");
        good(command + "run --store file:$PWD/locks job -- true");
        good(command + "--version");
    }

    @Test
    void theManPageTellsEveryOptionOfEveryCommand() throws Exception {
        String page = Files.readString(unpacked.resolve("share/man/man1/holdfast.1"));
        assertThat(good("man --warnings -l " + unpacked + "/share/man/man1/holdfast.1 2>&1 >/dev/null"))
                .isEmpty();
        for (String command : List.of("run", "ls", "show", "watch", "release", "prune", "deadlocks", "ui")) {
            assertThat(page).contains("holdfast " + command + "\\fR");
            assertThat(Pattern.compile("--[a-z][a-z-]+")
                            .matcher(Captured.of(command, "--help").out())
                            .results()
                            .map(MatchResult::group)
                            .distinct())
                    .allMatch(option -> page.contains(option.replace("-", "\\-")));
        }
    }

    @Test
    void theDebianPackageHasAllOfItInItsPlace() throws Exception {
        assumeTrue(Executable.find("dpkg-deb").isPresent(), "not a Debian system");
        good("dpkg-deb -x " + file(".deb") + " tree");

        assertThat(good("env -i tree/usr/bin/holdfast run --store file:$PWD/locks a -- sh -c 'echo $HOLDFAST_NAME'"))
                .isEqualTo("a\n");
        assertThat(good("find tree -type f"))
                .contains(
                        "etc/holdfast.conf",
                        "man1/holdfast.1.gz",
                        "completions/holdfast",
                        "vendor-completions/_holdfast");
        assertThat(good("dpkg-deb -f " + file(".deb") + " Depends")).contains("java17-runtime-headless");
    }

    @Test
    @Tag("full")
    void theDebianPackageInstallsRunsUpgradesAndGoes() throws Exception {
        requireRoot();
        assumeTrue(Executable.find("dpkg-deb").isPresent(), "not a Debian system");
        // All of it happens in a copy of this system that is gone afterwards.
        String copy =
                "mkdir over && mount -t tmpfs none over && mkdir over/up over/work over/root && mount -t overlay none"
                        + " -o lowerdir=/,upperdir=over/up,workdir=over/work over/root && mount -t proc proc over/root/proc &&"
                        + " mount --bind /dev over/root/dev";
        assumeTrue(run(directory, "unshare -m sh -c '" + copy + "'").exitCode() == 0, "no overlays here");
        good("rmdir over");
        Files.writeString(directory.resolve("inside"), """
                set -eu
                cp %s /package.deb
                dpkg -i /package.deb
                test -s /var/cache/holdfast/holdfast-java-*.jsa
                cd /
                as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups env -i"
                test "$($as_nobody holdfast run --store file:/tmp/hf-locks a -- sh -c 'echo $HOLDFAST_NAME')" = a
                test "$($as_nobody HOME=/nonexistent PATH=/usr/bin:/bin sh -c 'holdfast --version' | head -n 1)" != ""
                man -w holdfast >/dev/null
                echo 'HOLDFAST_STORE=memory:' >>/etc/holdfast.conf
                holdfast run job -- true 2>&1 | grep -q 'inside one process'
                $as_nobody holdfast run --store file:/tmp/hf-locks long -- \\
                    sh -c 'touch /tmp/hf-began; until [ -e /tmp/hf-go ]; do sleep 0.1; done; exit 7' &
                job=$!
                until [ -e /tmp/hf-began ]; do sleep 0.1; done
                dpkg -i /package.deb
                grep -q '^HOLDFAST_STORE=memory:' /etc/holdfast.conf
                dpkg -r holdfast
                touch /tmp/hf-go
                status=0
                wait $job || status=$?
                test $status = 7
                test ! -e /usr/bin/holdfast -a ! -e /usr/lib/holdfast -a ! -e /var/cache/holdfast -a -e /etc/holdfast.conf
                dpkg -P holdfast
                test ! -e /etc/holdfast.conf
                echo all of it
                """.formatted(file(".deb")));

        Done done = run(
                directory,
                "unshare -m sh -c '" + copy + " && cp inside over/root/inside && chroot over/root sh -x /inside'");

        assertThat(done.exitCode()).as(done.output()).isZero();
        assertThat(done.output()).contains("all of it");
    }

    private static Path file(String end) throws IOException {
        try (Stream<Path> files = Files.list(made)) {
            return files.filter(path -> path.toString().endsWith(end))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static void requireRoot() {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can be another user");
    }

    private String good(String line) throws Exception {
        Done done = run(directory, line);
        assertThat(done.exitCode()).as(line + ": " + done.output()).isZero();
        return done.output();
    }

    private Process start(String line) throws IOException {
        return new ProcessBuilder("sh", "-c", line)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("job.txt").toFile())
                .start();
    }

    private static Done run(Path directory, String line) throws IOException, InterruptedException {
        File output = Files.createTempFile(directory, "output", ".txt").toFile();
        Process process = new ProcessBuilder("sh", "-c", line)
                .directory(directory.toFile())
                .redirectInput(new File("/dev/null"))
                .redirectErrorStream(true)
                .redirectOutput(output)
                .start();
        assertThat(process.waitFor(HoldfastProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                .isTrue();
        return new Done(process.exitValue(), Files.readString(output.toPath()));
    }

    private record Done(int exitCode, String output) {}
}
