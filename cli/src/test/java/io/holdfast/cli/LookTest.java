package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("holdfast ls, show, watch, release, prune")
class LookTest {

    private final String store = "memory:" + UUID.randomUUID();

    @Test
    void lsTellsThatNothingIsHeld() {
        assertThat(Captured.of("ls", "--store", store)).isEqualTo(new Captured(0, "No lock is held.\n", ""));
        assertThat(Captured.of("ls", "--json", "--store", store).out()).isEqualTo("[]\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ls", "ls --json", "show job", "completion", "watch --for 1ms", "--help"})
    void resultsThatDoNotFitOnTheDiskAreAFailure(String line) throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store);
                Lease held = holdfast.lock("job").acquire()) {
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            boolean looks = !line.equals("completion") && !line.equals("--help");

            int exitCode = Captured.run(
                    failing("No space left on device"), said, (looks ? line + " --store " + store : line).split(" "));

            assertThat(exitCode).isEqualTo(70);
            assertThat(said.toString(StandardCharsets.UTF_8))
                    .contains("not all results could be written: No space left on device");
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void aReaderThatHasSeenEnoughIsNoFailure() {
        ByteArrayOutputStream said = new ByteArrayOutputStream();

        assertThat(Captured.run(failing("Broken pipe"), said, "ls", "--store", store))
                .isZero();
        assertThat(said.size()).isZero();
    }

    private static OutputStream failing(String reason) {
        return new OutputStream() {
            @Override
            public void write(int oneByte) throws IOException {
                throw new IOException(reason);
            }
        };
    }

    @Test
    void lsListsHoldersByPrefix() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store);
                Lease one = holdfast.lock("stock/1").acquire();
                Lease two = holdfast.lock("job").acquire()) {
            String all = Captured.of("ls", "--store", store).out();
            String some = Captured.of("ls", "stock/", "--store", store).out();

            assertThat(all.lines().toList()).hasSize(3);
            assertThat(all)
                    .contains(
                            "NAME",
                            "job",
                            "stock/1",
                            "pid " + ProcessHandle.current().pid());
            assertThat(some.lines().skip(1))
                    .singleElement()
                    .asString()
                    .startsWith("stock/1 ")
                    .contains(Long.toString(one.token()));
            assertThat(two.isValid()).isTrue();
        }
    }

    @Test
    void showTellsHolderAndWaiters() throws Exception {
        try (Holdfast holdfast = Holdfast.connect(store);
                Holdfast other = Holdfast.connect(store);
                Lease held = holdfast.lock("job").acquire()) {
            CompletableFuture<Lease> waiting = other.lock("job").acquireAsync();
            await().atMost(HoldfastProcess.PATIENCE)
                    .until(() -> !holdfast.lock("job").inspect().waiters().isEmpty());

            String shown = Captured.of("show", "job", "--store", store).out();

            assertThat(shown).contains("held by", "exclusive", "token " + held.token(), "unless renewed", "waiting 1.");
            waiting.cancel(true);
        }
        assertThat(Captured.of("show", "job", "--store", store).out()).isEqualTo("job: free\n");
    }

    @Test
    void jsonIsValidAndKeepsTokensWhole() throws Exception {
        String strange = "a \"quoted\"\n\u0007name\u2028 with \uD83D\uDD12";
        try (Holdfast holdfast = Holdfast.connect(store);
                Lease held = holdfast.semaphore(strange, 3).acquire()) {
            String shown =
                    Captured.of("show", strange, "--json", "--store", store).out();
            String listed = Captured.of("ls", "--json", "--store", store).out();

            assertThat(shown).hasLineCount(1);
            assertThat(textField(shown, "name")).isEqualTo(strange);
            assertThat(textField(shown, "token")).isEqualTo(Long.toString(held.token()));
            assertThat(textField(shown, "demand")).isEqualTo("permits");
            assertThat(textField(listed, "token")).isEqualTo(Long.toString(held.token()));
        }
    }

    @Test
    void controlCharactersOfANameDoNotReachTheTerminal() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store);
                Lease held = holdfast.lock("evil\u001b[2J").acquire()) {
            assertThat(Captured.of("ls", "--store", store).out())
                    .doesNotContain("\u001b")
                    .contains("\"evil\\u001b[2J\"");
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void watchTellsWhatChanges() throws Exception {
        ByteArrayOutputStream seen = new ByteArrayOutputStream();
        Thread watching = new Thread(() -> Captured.run(
                seen, OutputStream.nullOutputStream(), "watch", "--interval", "10ms", "--json", "--store", store));
        watching.start();
        try (Holdfast holdfast = Holdfast.connect(store)) {
            try (Lease held = holdfast.lock("job").acquire()) {
                await().atMost(HoldfastProcess.PATIENCE)
                        .until(() ->
                                seen.toString(StandardCharsets.UTF_8).contains("{\"event\":\"held\",\"name\":\"job\""));
                assertThat(held.isValid()).isTrue();
            }

            await().atMost(HoldfastProcess.PATIENCE)
                    .until(() ->
                            seen.toString(StandardCharsets.UTF_8).contains("{\"event\":\"freed\",\"name\":\"job\""));

            assertThat(seen.toString(StandardCharsets.UTF_8).lines())
                    .allMatch(line -> line.startsWith("{") && line.endsWith("}"));
        } finally {
            watching.interrupt();
            watching.join();
        }
    }

    @Test
    void watchEndsWhenItsTimeIsOver() {
        assertThat(Captured.of("watch", "--for", "10ms", "--interval", "10ms", "--store", store))
                .isEqualTo(new Captured(0, "", ""));
    }

    @Test
    void releaseAsksForForceAndNamesTheHolder() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store);
                Lease held = holdfast.lock("job").acquire()) {
            Captured refused = Captured.of("release", "job", "--store", store);

            assertThat(refused.exitCode()).isEqualTo(64);
            assertThat(refused.err())
                    .contains("--force", "pid " + ProcessHandle.current().pid());
            assertThat(held.isValid()).isTrue();
        }
    }

    @Test
    void releaseTakesTheLockAway() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store);
                Lease held = holdfast.lock("job").acquire()) {
            Captured forced = Captured.of("release", "job", "--force", "--json", "--store", store);

            assertThat(forced.exitCode()).isZero();
            assertThat(forced.out()).isEqualTo("{\"name\":\"job\",\"released\":1}\n");
            await().atMost(HoldfastProcess.PATIENCE).until(() -> !held.isValid());
            assertThat(Captured.of("release", "job", "--force", "--store", store))
                    .isEqualTo(new Captured(0, "'job' was free: there was nothing to release.\n", ""));
        }
    }

    @Test
    void releasingAFreeLockIsDoneWithAndWithoutForce() {
        Captured asked = Captured.of("release", "free", "--store", store);
        Captured forced = Captured.of("release", "free", "--force", "--store", store);

        assertThat(asked).isEqualTo(new Captured(0, "'free' was free: there was nothing to release.\n", ""));
        assertThat(forced).isEqualTo(asked);
        assertThat(Captured.of("release", "free", "--json", "--store", store).out())
                .isEqualTo("{\"name\":\"free\",\"released\":0}\n");
    }

    @Test
    void showTellsThatALockIsOnlyKeptForAWhileAfterItsHolderEnded() throws InterruptedException {
        LockOptions kept = LockOptions.defaults().withMinHold(Duration.ofMinutes(10));
        try (Holdfast holdfast = Holdfast.connect(store)) {
            holdfast.lock("job", kept).run(() -> {});

            String shown = Captured.of("show", "job", "--store", store).out();
            String json = Captured.of("show", "job", "--json", "--store", store).out();
            String listed = Captured.of("ls", "--store", store).out();
            Captured refused = Captured.of("release", "job", "--store", store);
            Captured forced = Captured.of("release", "job", "--force", "--store", store);

            assertThat(shown)
                    .contains(
                            "released by",
                            "kept taken for another ",
                            "pid " + ProcessHandle.current().pid())
                    .doesNotContain("unless renewed", "held by");
            assertThat(json).contains("\"held\":true", "\"lingering\":true");
            assertThat(listed).contains("(released)");
            assertThat(refused.exitCode()).isEqualTo(64);
            assertThat(refused.err()).contains("was released by", "kept taken").doesNotContain("may be at work");
            assertThat(forced.exitCode()).isZero();
            assertThat(forced.out()).isEqualTo("'job' is free; its holder had already released it.\n");
            assertThat(holdfast.lock("job").inspect().isHeld()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ls", "show job", "watch --for 1ms --interval 1ms"})
    void lookingDoesNotMakeTheDirectory(String line, @TempDir Path directory) {
        Path missing = directory.resolve("missing");

        Captured looked = Captured.of((line + " --store file:" + missing).split(" "));

        assertThat(looked.exitCode()).as(looked.err()).isZero();
        assertThat(missing).doesNotExist();
    }

    @Test
    void pruneTellsHowMuchWentAway() throws InterruptedException {
        try (Holdfast holdfast = Holdfast.connect(store)) {
            holdfast.lock("job").run(() -> {});

            Captured pruned = Captured.of("prune", "0s", "--json", "--store", store);

            assertThat(pruned.exitCode()).as(pruned.err()).isZero();
            assertThat(pruned.out()).matches("\\{\"removed\":\\d+}\n");
        }
    }

    private static String textField(String json, String field) throws IOException {
        String found = "";
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.VALUE_STRING && field.equals(parser.currentName())) {
                    found = parser.getText();
                }
            }
        }
        return found;
    }
}
