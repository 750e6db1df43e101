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
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("A look for forced releases")
class HolderWatchTest {

    private static final TimeSource TIME = TimeSource.system();
    private static final Duration TTL = Duration.ofMinutes(1);

    @TempDir
    Path path;

    private LockDirectory directory;
    private HolderWatch watch;
    /** Its entry is in no file. */
    private final Ticket vanished = new Ticket(
            "orders",
            new OwnerId.Source().next(),
            Demand.exclusive(),
            TTL,
            new Origin("client", "host", 1, "thread"),
            new Validity(TIME, Duration.ZERO),
            new Ticket.Listener() {});

    @BeforeEach
    void open() throws IOException {
        directory = LockDirectory.open(path);
        watch = new HolderWatch(
                () -> Optional.of(directory),
                new StoreContext("client", "client", TIME, (nanos, task) -> () -> {}, Runnable::run));
        directory.announceForce(TIME, soon());
        watch.begin(directory);
        vanished.granted(1, TTL, TIME.nanoTime());
        watch.add(vanished);
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

        assertThat(vanished.ending())
                .hasValueSatisfying(why -> assertThat(why.reason()).isEqualTo(LossReason.FORCED));
    }
}
