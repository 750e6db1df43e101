package io.holdfast.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.StoreUnavailableException;
import io.holdfast.file.Entry.State;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files written before the machine was booted, when its clock stood elsewhere. */
@Timeout(60)
class RebootTest {

    private static final String EARLIER_BOOT = "another boot";
    private static final long LAST_TOKEN = Table.clockMicros() + 1_000_000_000L;
    private static final Duration LINGER = Duration.ofMillis(600);

    @TempDir
    Path directory;

    private StoreClient client;

    @BeforeEach
    void open() {
        client = new StoreClient(directory);
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void holdersAndWaitersOfAnEarlierBootAreGoneButTheTokenGoesOn() throws IOException {
        write(EARLIER_BOOT, entry(State.HELD, "1.gone-a", Duration.ofDays(100)), entry(State.WAITING, "1.gone-b", TTL));

        Grant grant = client.take("job");

        assertThat(grant.token()).isEqualTo(LAST_TOKEN + 1);
        assertThat(client.view("job").waiters()).isEmpty();
    }

    @Test
    void whatLingersBeginsItsTimeAnew() throws IOException {
        write(EARLIER_BOOT, entry(State.LINGERING, "1.gone-a", Duration.ofDays(-100)));
        long booted = System.nanoTime();

        assertThat(client.attempt("job")).isInstanceOf(Answer.Refused.class);
        client.want("job", TTL).join();
        assertThat(System.nanoTime() - booted).isGreaterThan(LINGER.toNanos());
    }

    @Test
    void whereBootsCannotBeToldAClockThatBeganAnewIsNoticed() throws IOException {
        write(Machine.boot(), entry(State.LINGERING, "1.gone-a", Duration.ofDays(100)));

        assertThat(client.attempt("job")).isInstanceOf(Answer.Refused.class);
        assertThat(client.want("job", TTL)).succeedsWithin(Duration.ofSeconds(20));
    }

    @Test
    void anotherBootWhoseProcessLivesIsAnotherMachine() throws IOException {
        client.take("other");
        write(EARLIER_BOOT, entry(State.HELD, lifeHere(), TTL));

        assertThatThrownBy(() -> client.attempt("job"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("shared between machines");
    }

    private static final Duration TTL = StoreClient.TTL;

    private static Entry entry(State state, String life, Duration expiresIn) {
        return new Entry(
                state,
                new OwnerId("00", 1),
                Demand.exclusive(),
                life,
                (state == State.LINGERING ? LINGER : TTL).toNanos(),
                System.nanoTime() + expiresIn.toNanos(),
                LAST_TOKEN,
                0,
                new Origin("old", "here", 1, "main"));
    }

    private void write(String boot, Entry... entries) throws IOException {
        Path file = directory.resolve("job.lock");
        LockFileFormat format = new LockFileFormat(file, "job", boot);
        Files.write(file, format.fresh());
        OpenFile bytes = OpenFile.open(file, OpenFile.Access.READ_WRITE);
        try {
            LockFileFormat.Content fresh = format.read(bytes, null);
            LockFileFormat.Update update =
                    format.update(new Table(fresh.table().generation() + 1, LAST_TOKEN, List.of(entries)));
            update.write(bytes);
            update.flip(bytes);
        } finally {
            bytes.close();
        }
    }

    private String lifeHere() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(".life-"))
                    .map(name -> name.substring(".life-".length()))
                    .findFirst()
                    .orElseThrow();
        }
    }
}
