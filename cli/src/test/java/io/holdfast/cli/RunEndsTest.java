package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.servers.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("holdfast run: signals, kills, lost locks")
class RunEndsTest {

    private static final Duration PATIENCE = HoldfastProcess.PATIENCE;

    @TempDir
    Path directory;

    private final List<HoldfastProcess> started = new ArrayList<>();

    @AfterEach
    void killWhatStillRuns() {
        started.forEach(HoldfastProcess::close);
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT", "HUP", "USR1"})
    void passesSignalsOnToTheCommand(String signal) {
        var run = run(
                "job",
                "--",
                "sh",
                "-c",
                "trap 'echo got " + signal + "; exit 33' " + signal + "; echo $$ > pid; while :; do sleep 0.1; done");
        awaitPid("pid");

        run.signal(signal);

        assertThat(run.exitCode()).isEqualTo(33);
        assertThat(run.out()).isEqualTo("got " + signal + "\n");
        assertFree();
    }

    @Test
    void endsAsTheSignalSaysIfTheCommandDoesNothingAboutIt() {
        var run = run("job", "--", "sh", "-c", "echo $$ > pid; exec sleep 1000");
        long command = awaitPid("pid");

        run.signal("TERM");

        assertThat(run.exitCode()).isEqualTo(143);
        assertGone(command);
        assertFree();
    }

    @Test
    void doesNotFreeTheLockWhileChildrenOfATerminatedCommandWork() {
        var run = run("job", "--", "sh", "-c", "sleep 1000 & echo $! > pid; wait");
        long child = awaitPid("pid");

        run.signal("TERM");

        assertThat(run.exitCode()).isEqualTo(143);
        assertThat(ProcessHandle.of(child).filter(RunEndsTest::isRunning)).isEmpty();
    }

    @Test
    void doesNotFreeTheLockWhileChildrenWorkThoughAnotherSignalCameAfterTheOneThatEndedTheCommand() {
        var run = run(
                "job",
                "--",
                "sh",
                "-c",
                "trap 'touch hup' HUP; trap 'echo $$ > term; while [ ! -e hup ]; do sleep 0.05; done; exit 143' TERM;"
                        + " sleep 1000 & echo $! > child; wait");
        long child = awaitPid("child");

        run.signal("TERM");
        awaitPid("term");
        run.signal("HUP");

        assertThat(run.exitCode()).isEqualTo(143);
        assertThat(ProcessHandle.of(child).filter(RunEndsTest::isRunning)).isEmpty();
    }

    @Test
    void leavesWhatTheCommandPutIntoTheBackgroundAlone() {
        var run = run("job", "--", "sh", "-c", "sleep 1000 > /dev/null 2>&1 & echo $! > pid");
        long child = awaitPid("pid");

        assertThat(run.exitCode()).isZero();
        Optional<ProcessHandle> background = ProcessHandle.of(child).filter(ProcessHandle::isAlive);
        assertThat(background).isPresent();
        background.get().destroyForcibly();
    }

    @Test
    void leavesTheQueueWhenSignalledWhileWaiting() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store());
                Lease held = holdfast.lock("job").acquire()) {
            var waiting = run("job", "--", "touch", "ran");
            await().atMost(PATIENCE)
                    .until(() -> !holdfast.lock("job").inspect().waiters().isEmpty());

            waiting.signal("TERM");

            assertThat(waiting.exitCode()).isEqualTo(143);
            assertThat(holdfast.lock("job").inspect().waiters()).isEmpty();
            assertThat(held.isValid()).isTrue();
        }
        assertThat(directory.resolve("ran")).doesNotExist();
    }

    @Test
    void takesTheCommandAndItsChildrenAlongWhenKilledAndLetsTheNextInLongBeforeTheTtl() {
        var killed = run(
                "--ttl",
                "1h",
                "job",
                "--",
                "sh",
                "-c",
                "trap '' TERM HUP; setsid sleep 1000 & echo $! > child; echo $$ > pid; while :; do sleep 0.1; done");
        long command = awaitPid("pid");
        long child = awaitPid("child");
        var next = run("job", "--", "touch", "next");
        try (Holdfast holdfast = Holdfast.connect(store())) {
            await().atMost(PATIENCE)
                    .until(() -> !holdfast.lock("job").inspect().waiters().isEmpty());
        }

        killed.signal("KILL");

        assertGone(command);
        assertGone(child);
        assertThat(next.exitCode()).isZero();
        assertThat(directory.resolve("next")).exists();
    }

    @Test
    void takesAnInnerHoldfastAndItsCommandAlongWhenKilled() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var outer = run(
                "outer",
                "--",
                java,
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "run",
                "--store",
                store(),
                "inner",
                "--",
                "sh",
                "-c",
                "setsid sleep 1000 & echo $! > child; echo $$ > pid; wait");
        long command = awaitPid("pid");
        long child = awaitPid("child");

        outer.signal("KILL");

        assertGone(command);
        assertGone(child);
    }

    @Test
    void endsTheCommandWhenTheLockIsLostInAPause() {
        var run = run(
                "--ttl",
                "3s",
                "--grace",
                "5m",
                "job",
                "--",
                "sh",
                "-c",
                "trap 'echo told; exit 5' TERM; echo $$ > pid; while :; do sleep 0.1; done");
        awaitPid("pid");

        run.signal("STOP");
        try (Holdfast holdfast = Holdfast.connect(store())) {
            // The ttl of the stopped holder has passed when the store says so, not when we think so.
            await().atMost(PATIENCE)
                    .until(() -> holdfast.lock("job").inspect().holders().stream()
                            .allMatch(holder -> holder.timeLeft()
                                    .map(left -> left.isZero() || left.isNegative())
                                    .orElse(false)));
        }
        run.signal("CONT");

        assertThat(run.exitCode()).isEqualTo(75);
        assertThat(run.out()).isEqualTo("told\n");
        assertThat(run.err()).contains("'job' is lost");
    }

    @Test
    void doesNotStartTheCommandIfSomebodyElseGotTheLockInAPauseBefore() throws Exception {
        Path asked = directory.resolve("asked");
        var run = HoldfastProcess.start(
                directory,
                Map.of("HOLDFAST_STORE", store(), "PATH", withSetprivThatWaitsWhileThereIs(asked)),
                "run",
                "--ttl",
                "3s",
                "job",
                "--",
                "touch",
                "ran");
        started.add(run);
        await().atMost(PATIENCE).until(() -> Files.exists(asked));

        run.signal("STOP");
        try (Holdfast holdfast = Holdfast.connect(store());
                Lease next = holdfast.lock("job").tryAcquire(PATIENCE).orElseThrow()) {
            Files.delete(asked);
            run.signal("CONT");

            assertThat(run.exitCode()).isEqualTo(75);
            assertThat(next.isValid()).isTrue();
        }
        assertThat(directory.resolve("ran")).doesNotExist();
        assertThat(run.err()).contains("'job' was lost").contains("did not run");
    }

    @Test
    void saysOnceThatTheLockWasLostWhenTheCommandEndsAtThatMoment() throws IOException {
        var run = run("job", "--", "sh", "-c", "echo $$ > pid; while [ ! -e done ]; do sleep 0.1; done");
        awaitPid("pid");

        run.signal("STOP");
        try (Holdfast holdfast = Holdfast.connect(store())) {
            assertThat(holdfast.administration().forceRelease("job")).isEqualTo(1);
        }
        Files.createFile(directory.resolve("done"));
        run.signal("CONT");

        assertThat(run.exitCode()).isEqualTo(75);
        assertThat(run.err().lines().filter(line -> line.contains("lost"))).hasSize(1);
    }

    @Test
    void killsACommandThatDoesNotStopWhenTheLockIsTakenAway() {
        var run = run(
                "--grace",
                "300ms",
                "job",
                "--",
                "sh",
                "-c",
                "trap '' TERM; sleep 1000 & echo $! > child; echo $$ > pid; while :; do sleep 0.1; done");
        long command = awaitPid("pid");
        long child = awaitPid("child");

        try (Holdfast holdfast = Holdfast.connect(store())) {
            assertThat(holdfast.administration().forceRelease("job")).isEqualTo(1);
        }

        assertThat(run.exitCode()).isEqualTo(75);
        assertGone(command);
        assertGone(child);
    }

    @Test
    void endsTheCommandThoughNobodyReadsWhatItSays() throws Exception {
        Path pipe = directory.resolve("pipe");
        shell("mkfifo pipe").waitFor();
        Process reader = shell("exec sleep 1000 < pipe");
        try {
            shell("timeout 1 cat /dev/zero > pipe").waitFor();
            HoldfastProcess run = HoldfastProcess.start(
                    directory,
                    pipe,
                    Map.of("HOLDFAST_STORE", store()),
                    "run",
                    "job",
                    "--",
                    "sh",
                    "-c",
                    "exec 2> /dev/null; echo $$ > pid; exec sleep 1000");
            started.add(run);
            long command = awaitPid("pid");

            try (Holdfast holdfast = Holdfast.connect(store())) {
                assertThat(holdfast.administration().forceRelease("job")).isEqualTo(1);
            }

            assertGone(command);
            assertThat(run.isAlive()).as("has a message to write").isTrue();
        } finally {
            reader.destroyForcibly();
        }
    }

    @Test
    @Tag("alone")
    void endsAtOnceWithItsCommandThoughRedisIsDown() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            HoldfastProcess run = HoldfastProcess.start(
                    directory,
                    Map.of("HOLDFAST_STORE", redis.uri()),
                    "run",
                    "job",
                    "--",
                    "sh",
                    "-c",
                    "echo $$ > pid; while [ ! -e stop ]; do sleep 0.05; done; exit 7");
            started.add(run);
            awaitPid("pid");
            redis.kill();

            Files.createFile(directory.resolve("stop"));
            long stopped = System.nanoTime();

            assertThat(run.exitCode()).isEqualTo(7);
            assertThat(Duration.ofNanos(System.nanoTime() - stopped)).isLessThan(Duration.ofSeconds(3));
            assertThat(run.err()).contains("did not confirm").hasLineCount(1);
        }
    }

    @Test
    @Tag("alone")
    void endsAtOnceWithItsCommandThoughRedisHasNotAnsweredForAWhile() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            HoldfastProcess run = HoldfastProcess.start(
                    directory,
                    Map.of("HOLDFAST_STORE", redis.uri() + "?timeout=1s"),
                    "run",
                    "--ttl",
                    "9s",
                    "job",
                    "--",
                    "sh",
                    "-c",
                    "echo $$ > pid; while [ ! -e stop ]; do sleep 0.05; done; exit 7");
            started.add(run);
            awaitPid("pid");
            redis.pause();
            await().atMost(PATIENCE).until(() -> run.err().contains("could not be renewed"));

            Files.createFile(directory.resolve("stop"));
            long stopped = System.nanoTime();

            assertThat(run.exitCode()).isEqualTo(7);
            assertThat(Duration.ofNanos(System.nanoTime() - stopped)).isLessThan(Duration.ofSeconds(3));
            assertThat(run.err().lines().filter(line -> line.contains("enew")))
                    .as("once, and in the command's words")
                    .singleElement()
                    .asString()
                    .startsWith("holdfast: lock 'job' could not be renewed (");
        }
    }

    /** The guard asks setpriv what it can do when the lock is held and the command is still to be started. */
    private String withSetprivThatWaitsWhileThereIs(Path file) throws IOException {
        Path setpriv = Files.createDirectory(directory.resolve("bin")).resolve("setpriv");
        Files.writeString(
                setpriv, "#!/bin/sh\ntouch '" + file + "'\nwhile [ -e '" + file + "' ]; do sleep 0.05; done\nexit 1\n");
        assertThat(setpriv.toFile().setExecutable(true)).isTrue();
        return setpriv.getParent() + ":" + System.getenv("PATH");
    }

    private Process shell(String line) throws IOException {
        return new ProcessBuilder("sh", "-c", line)
                .directory(directory.toFile())
                .start();
    }

    private HoldfastProcess run(String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "run";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        HoldfastProcess process = HoldfastProcess.start(directory, all);
        started.add(process);
        return process;
    }

    private String store() {
        return "file:" + directory.resolve("locks");
    }

    private long awaitPid(String file) {
        Path path = directory.resolve(file);
        await().atMost(PATIENCE)
                .until(() -> Files.exists(path) && Files.readString(path).endsWith("\n"));
        try {
            return Long.parseLong(Files.readString(path).strip());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void assertGone(long pid) {
        await().atMost(PATIENCE)
                .until(() ->
                        ProcessHandle.of(pid).filter(RunEndsTest::isRunning).isEmpty());
    }

    /** A process whose parent has not taken note of its end yet is as good as gone. */
    private static boolean isRunning(ProcessHandle process) {
        try {
            String stat = Files.readString(Path.of("/proc/" + process.pid() + "/stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2) != 'Z';
        } catch (IOException ended) {
            return false;
        }
    }

    private void assertFree() {
        try (Holdfast holdfast = Holdfast.connect(store())) {
            assertThat(holdfast.lock("job").inspect().isHeld()).isFalse();
        }
    }
}
