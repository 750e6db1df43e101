package io.holdfast.file;

import static io.holdfast.file.StoreClient.soon;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowingConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A look for forced releases")
class HolderWatchTest {

    private static final TimeSource TIME = TimeSource.system();
    private static final Duration TTL = Duration.ofMinutes(1);
    private static final ThrowingConsumer<Ticket> FORCED = ticket -> assertThat(ticket.ending())
            .hasValueSatisfying(why -> assertThat(why.reason()).isEqualTo(LossReason.FORCED));

    @TempDir
    Path path;

    private LockDirectory directory;
    private HolderWatch watch;
    private final OwnerId.Source owners = new OwnerId.Source();
    /** Its entry is in no file. */
    private Ticket vanished;

    @BeforeEach
    void open() throws IOException {
        directory = LockDirectory.open(path);
        watch = new HolderWatch(
                () -> Optional.of(directory),
                new StoreContext("client", "client", TIME, (nanos, task) -> () -> {}, Runnable::run));
        directory.announceForce(TIME, soon());
        watch.begin(directory);
        vanished = held("orders");
    }

    /** A ticket that was granted, without an entry in a file. */
    private Ticket held(String lock) {
        Ticket ticket = new Ticket(
                lock,
                owners.next(),
                Demand.exclusive(),
                TTL,
                new Origin("client", "host", 1, "thread"),
                new Validity(TIME, Duration.ZERO),
                new Ticket.Listener() {});
        ticket.granted(1, TTL, TIME.nanoTime());
        watch.add(ticket);
        return ticket;
    }

    @AfterEach
    void close() throws IOException {
        directory.close();
    }

    @Test
    void doesNotTakeAGrantForForcedThatVanishedOtherwise() {
        watch.look();

        assertThat(vanished.ending()).isEmpty();
    }

    @Test
    void tellsTheHolderOnceSomethingWasForced() throws IOException {
        directory.announceForce(TIME, soon());

        watch.look();

        assertThat(vanished).satisfies(FORCED);
    }

    @Test
    void tellsTheHoldersOfGoodFilesBesideBadOnes() throws IOException {
        List<Ticket> forced = held(IntStream.range(0, 20).mapToObj(i -> "good " + i));
        List<Ticket> unknown = held(IntStream.range(0, 6).mapToObj(i -> "bad " + i));
        for (Ticket bad : unknown) {
            Files.createFile(fileOf(bad));
        }
        directory.announceForce(TIME, soon());

        watch.look();

        assertThat(forced).allSatisfy(FORCED);
        assertThat(unknown).allSatisfy(ticket -> assertThat(ticket.ending()).isEmpty());
    }

    /** One look waits for few busy files only, and the next begins with others. */
    @Test
    void tellsTheHoldersOfFreeFilesBesideManyBusyOnes() throws IOException {
        List<Ticket> forced = held(IntStream.range(0, 20).mapToObj(i -> "free " + i));
        List<OpenFile> kept = new ArrayList<>();
        for (Ticket busy : held(IntStream.range(0, 12).mapToObj(i -> "busy " + i))) {
            Path file = Files.createFile(fileOf(busy));
            kept.add(OpenFile.open(file, OpenFile.Access.READ_WRITE));
        }
        for (OpenFile file : kept) {
            assertThat(file.tryGuard()).isTrue();
        }
        directory.announceForce(TIME, soon());

        watch.look();
        watch.look();
        watch.look();

        assertThat(forced).allSatisfy(FORCED);
        for (OpenFile file : kept) {
            file.close();
        }
    }

    @Test
    void looksAgainIntoAFileThatWasBad() throws IOException {
        Path file = Files.createFile(fileOf(vanished));
        directory.announceForce(TIME, soon());
        watch.look();
        assertThat(vanished.ending()).isEmpty();
        Files.delete(file);

        watch.look();

        assertThat(vanished).satisfies(FORCED);
    }

    private List<Ticket> held(Stream<String> locks) {
        return locks.map(this::held).toList();
    }

    private Path fileOf(Ticket ticket) {
        return directory.path().resolve(FileNames.of(ticket.name()));
    }
}
