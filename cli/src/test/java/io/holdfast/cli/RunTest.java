package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("holdfast run")
class RunTest {

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"exit 0, 0", "exit 7, 7", "exit 255, 255", "kill -9 $$, 137", "kill -TERM $$, 143"})
    void passesTheExitCodeOfTheCommandOn(String script, int expected) {
        assertThat(run("job", "--", "sh", "-c", script).exitCode()).isEqualTo(expected);
    }

    @Test
    void saysNothingOfItsOwn() {
        var done = run("job", "--", "echo", "I hold the lock");

        assertThat(done.exitCode()).isZero();
        assertThat(done.out()).isEqualTo("I hold the lock\n");
        assertThat(done.err()).isEmpty();
    }

    @Test
    void givesTheCommandTheNameAndAGrowingToken() {
        var first = run("orders/7", "--", "sh", "-c", "echo $HOLDFAST_NAME $HOLDFAST_TOKEN");
        assertThat(first.exitCode()).isZero();
        var second = run("orders/7", "--", "sh", "-c", "echo $HOLDFAST_NAME $HOLDFAST_TOKEN");
        assertThat(second.exitCode()).isZero();

        assertThat(first.out()).matches("orders/7 \\d+\n");
        assertThat(token(second)).isGreaterThan(token(first));
    }

    @Test
    void keepsTheStoreToItself() {
        var environment = Map.of("HOLDFAST_STORE", store(), "HOLDFAST_OTHER", "x", "PLAIN", "kept");

        var done = HoldfastProcess.start(directory, environment, "run", "job", "--", "env");

        assertThat(done.exitCode()).isZero();
        assertThat(done.out().lines().filter(line -> line.startsWith("HOLDFAST_")))
                .allMatch(line -> line.matches("HOLDFAST_(NAME|TOKEN|RUN|STORE_WITHHELD)=.*"))
                .hasSize(4);
        assertThat(done.out()).contains("PLAIN=kept").doesNotContain(store());
    }

    @Test
    void insideAnotherRunDoesNotFallBackToOtherLocks() {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String inner = "'" + java + "' -cp '" + System.getProperty("java.class.path") + "' " + Main.class.getName()
                + " run other -- echo inside";

        var refused = run("job", "--", "sh", "-c", inner);
        var told = run("job", "--", "sh", "-c", "HOLDFAST_STORE='" + store() + "' " + inner);

        assertThat(refused.exitCode()).isEqualTo(64);
        assertThat(refused.out()).isEmpty();
        assertThat(refused.err()).contains("does not pass HOLDFAST_STORE on").contains("--store file:");
        assertThat(told.exitCode()).isZero();
        assertThat(told.out()).isEqualTo("inside\n");
    }

    @Test
    void runsTheCommandWhereItWasStarted() throws IOException {
        var done = run("job", "--", "pwd");

        assertThat(done.exitCode()).isZero();
        assertThat(done.out().strip()).isEqualTo(directory.toRealPath().toString());
    }

    @Test
    void takesNoOptionOfTheCommandForItsOwn() {
        var done = run("-q", "job", "--", "echo", "-n", "--json", "--", "-h");

        assertThat(done.exitCode()).isZero();
        assertThat(done.out()).isEqualTo("--json -- -h");
    }

    @Test
    void givesUpAtOnceOnATakenLockIfToldNotToWait() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store());
                Lease held = holdfast.lock("job").acquire()) {
            var plain = run("-n", "job", "--", "touch", "ran");
            var own = run("-n", "-E", "42", "-q", "job", "--", "touch", "ran");

            assertThat(plain.exitCode()).isEqualTo(1);
            assertThat(plain.err())
                    .contains("'job' is taken")
                    .contains("pid " + ProcessHandle.current().pid(), "since ")
                    .contains("holdfast show job\n")
                    .hasLineCount(1);
            assertThat(own.exitCode()).isEqualTo(42);
            assertThat(own.err()).isEmpty();
            assertThat(directory.resolve("ran")).doesNotExist();
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void aConflictNamesTheStoreOfTheOptionInItsHintAndSaysWhatKeepsTheLock() {
        assertThat(run("--hold-at-least", "10m", "my job", "--", "true").exitCode())
                .isZero();

        var refused = run("-n", "--store", store(), "my job", "--", "touch", "ran");

        assertThat(refused.exitCode()).isEqualTo(1);
        assertThat(refused.err())
                .containsPattern("kept taken for another \\d+m")
                .contains("holdfast show --store " + store() + " 'my job'\n");
    }

    @Test
    void usesTheHomeOfTheEnvironment() {
        var environment = Map.of("HOME", directory.resolve("home").toString(), "XDG_STATE_HOME", "");

        var done = HoldfastProcess.start(directory, environment, "run", "job", "--", "true");

        assertThat(done.exitCode()).as(done.err()).isZero();
        assertThat(directory.resolve("home/.local/state/holdfast")).isDirectory();
    }

    @Test
    void waitsNoLongerThanTold() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store());
                Lease held = holdfast.lock("job").acquire()) {
            var waiting = run("-w", "0.3", "job", "--", "touch", "ran");

            assertThat(waiting.exitCode()).isEqualTo(1);
            assertThat(directory.resolve("ran")).doesNotExist();
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void waitsItsTurn() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store())) {
            HoldfastProcess waiting;
            try (Lease held = holdfast.lock("job").acquire()) {
                waiting = run("job", "--", "touch", "ran");
                await().atMost(HoldfastProcess.PATIENCE)
                        .until(() -> !holdfast.lock("job").inspect().waiters().isEmpty());
                assertThat(directory.resolve("ran")).doesNotExist();
                assertThat(held.isValid()).isTrue();
            }
            assertThat(waiting.exitCode()).isZero();
            assertThat(directory.resolve("ran")).exists();
        }
    }

    @Test
    void sharesWithThoseThatShare() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store());
                Lease reading = holdfast.readWriteLock("job").readLock().acquire()) {
            assertThat(run("-n", "-s", "job", "--", "true").exitCode()).isZero();
            assertThat(run("-n", "job", "--", "true").exitCode()).isEqualTo(1);
            assertThat(reading.isValid()).isTrue();
        }
    }

    @Test
    void letsAsManyInAsThereArePermits() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store());
                Lease one = holdfast.semaphore("job", 2).acquire()) {
            assertThat(run("-n", "--permits", "2", "job", "--", "true").exitCode())
                    .isZero();
            try (Lease two = holdfast.semaphore("job", 2).acquire()) {
                assertThat(run("-n", "--permits", "2", "job", "--", "true").exitCode())
                        .isEqualTo(1);
                assertThat(two.token()).isNotEqualTo(one.token());
            }
        }
    }

    @Test
    void keepsTheLockForAWhileIfTold() {
        assertThat(run("--ttl", "1s", "--hold-at-least", "10m", "job", "--", "true")
                        .exitCode())
                .isZero();

        assertThat(run("-n", "-q", "job", "--", "true").exitCode()).isEqualTo(1);
    }

    @Test
    void saysWhenThereIsNoSuchCommand() {
        var unknown = run("job", "--", "no-such-command-here");
        var missing = run("job", "--", "./missing.sh");

        assertThat(unknown.exitCode()).isEqualTo(127);
        assertThat(unknown.err())
                .contains("no-such-command-here")
                .contains("PATH")
                .hasLineCount(1);
        assertThat(missing.exitCode()).isEqualTo(127);
    }

    @Test
    void saysWhenTheCommandCannotBeRun() throws IOException {
        Files.writeString(directory.resolve("script.sh"), "#!/bin/sh\nexit 0\n");

        var done = run("job", "--", "./script.sh");

        assertThat(done.exitCode()).isEqualTo(126);
        assertThat(done.err()).contains("chmod +x");
    }

    @Test
    void reportsAsJsonBesideTheOutputOfTheCommand() throws IOException {
        var done = run("--json", "job", "--", "sh", "-c", "echo $HOLDFAST_TOKEN; exit 3");

        assertThat(done.exitCode()).isEqualTo(3);
        assertThat(done.out()).matches("\\d+\n");
        assertThat(done.err())
                .hasLineCount(1)
                .contains("\"token\":\"" + done.out().strip() + "\"")
                .contains("\"outcome\":\"completed\"")
                .contains("\"exitCode\":3");
        try (JsonParser parser = new JsonFactory().createParser(done.err())) {
            while (parser.nextToken() != null) {
                // Reading it to its end is the test.
            }
        }
    }

    @Test
    void refusesTextItCannotRead() {
        var environment = Map.of("HOLDFAST_STORE", store(), "LC_ALL", "C");

        var refused = HoldfastProcess.start(directory, environment, "run", "锁", "--", "true");

        assertThat(refused.exitCode()).isEqualTo(64);
        assertThat(refused.err()).contains("LC_ALL=C.UTF-8");
    }

    @Test
    void leavesTheQueueAlsoWhenSignalledTwiceAtOnce() throws Exception {
        try (Holdfast holdfast = Holdfast.connect(store());
                Lease held = holdfast.lock("job").acquire()) {
            var waiting = run("job", "--", "true");
            await().atMost(HoldfastProcess.PATIENCE)
                    .until(() -> !holdfast.lock("job").inspect().waiters().isEmpty());

            // As timeout(1) does.
            waiting.signal("TERM");
            waiting.terminate();

            assertThat(waiting.exitCode()).isEqualTo(143);
            assertThat(holdfast.lock("job").inspect().waiters()).isEmpty();
            assertThat(held.isValid()).isTrue();
        }
    }

    private HoldfastProcess run(String... arguments) {
        String[] all = new String[arguments.length + 1];
        all[0] = "run";
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return HoldfastProcess.start(directory, all);
    }

    private String store() {
        return "file:" + directory.resolve("locks");
    }

    private static long token(HoldfastProcess done) {
        return Long.parseLong(done.out().strip().split(" ")[1]);
    }
}
