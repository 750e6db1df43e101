package io.holdfast.torture.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.Validity;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("a tapped ticket")
class TappedTicketTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final Duration SHORTER = Duration.ofSeconds(10);
    private static final long TOKEN = 7;

    @TempDir
    Path directory;

    private final Heard heard = new Heard();
    private final Ticket engines = new Ticket(
            "orders",
            new OwnerId("client", 1),
            Demand.exclusive(),
            TTL,
            new Origin("client", "host", 1, "main"),
            new Validity(TimeSource.system(), Duration.ZERO),
            heard);
    private HistoryWriter history;
    private TappedTicket tapped;
    private Ticket stores;

    @BeforeEach
    void tap() {
        history = HistoryWriter.create(directory.resolve("w1" + HistoryReader.SUFFIX));
        tapped = TappedTicket.of(engines, new Recorder("w1", history));
        stores = tapped.inner();
    }

    @AfterEach
    void close() {
        history.close();
    }

    @Test
    void passesAGrantOnAndWritesItDown() {
        long sent = begin();
        long base = System.nanoTime();

        stores.granted(TOKEN, SHORTER, base);

        assertThat(heard.reports).containsExactly("granted");
        assertThat(engines.storeToken()).isEqualTo(TOKEN);
        assertThat(engines.baseNanos()).isEqualTo(base);
        assertThat(engines.endNanos()).isEqualTo(stores.endNanos());
        Event granted = only(Operation.GRANTED);
        assertThat(granted.token()).isEqualTo(Tokens.ofUsers(TOKEN, 0));
        assertThat(granted.sentNanos()).isEqualTo(sent);
        assertThat(granted.ttlNanos()).isEqualTo(SHORTER.toNanos());
        assertThat(granted.owner()).isEqualTo(engines.owner().toString());
    }

    @Test
    void isQueuedOnceAndThenRenewed() {
        begin();
        stores.waiting(TTL, System.nanoTime());
        stores.waiting(TTL, System.nanoTime());

        assertThat(engines.isQueued()).isTrue();
        assertThat(engines.endNanos()).isEqualTo(stores.endNanos());
        assertThat(operations()).containsExactly(Operation.QUEUED, Operation.RENEWED);
    }

    @Test
    void leavesTheDeadlineProvisionalWhenAPushOvertakesTheFirstAnswer() {
        begin();
        stores.granted(TOKEN);
        stores.waiting(SHORTER, System.nanoTime());

        assertThat(heard.reports).containsExactly("granted", "kept");
        assertThat(engines.givenTtl()).isEqualTo(SHORTER);
        assertThat(engines.endNanos()).isEqualTo(stores.endNanos());
    }

    @Test
    void leavesTheDeadlineProvisionalAlsoWhenAPushComesTwice() {
        begin();
        stores.granted(TOKEN);
        stores.granted(TOKEN);
        stores.extended(SHORTER, System.nanoTime());

        assertThat(engines.givenTtl()).isEqualTo(SHORTER);
        assertThat(engines.endNanos()).isEqualTo(stores.endNanos());
    }

    @Test
    void countsFromTheFirstRequestUnderWayWhateverTheStoreSays() {
        long first = begin();
        begin();

        stores.granted(TOKEN, TTL, System.nanoTime());

        assertThat(only(Operation.GRANTED).sentNanos()).isEqualTo(first);
    }

    @Test
    void countsFromTheStoresBaseIfThatIsEarlier() {
        long base = System.nanoTime();
        begin();

        stores.granted(TOKEN, TTL, base);

        assertThat(only(Operation.GRANTED).sentNanos()).isEqualTo(base);
    }

    @Test
    void countsAPushFromTheRequestThatBroughtItsBase() {
        long enqueued = begin();
        stores.waiting(TTL, System.nanoTime());
        tapped.finish(enqueued);
        begin(); // a heartbeat, not answered yet

        stores.granted(TOKEN);

        assertThat(only(Operation.GRANTED).sentNanos()).isEqualTo(enqueued);
    }

    @Test
    void passesAGrantAfterTheEndOnAsUnwanted() {
        begin();
        stores.waiting(TTL, System.nanoTime());
        engines.end();
        tapped.end();

        stores.granted(TOKEN);

        assertThat(heard.reports).containsExactly("kept", "unwanted");
        assertThat(engines.storeToken()).isEqualTo(TOKEN);
        assertThat(operations()).containsExactly(Operation.QUEUED, Operation.GRANTED);
    }

    @Test
    void passesAGrantThatCameTooLateOnAsLossAndUnwanted() {
        begin();

        stores.granted(TOKEN, TTL, System.nanoTime() - TTL.toNanos());

        assertThat(heard.reports).containsExactly("ended EXPIRED", "unwanted");
        assertThat(engines.storeToken()).isEqualTo(TOKEN);
        assertThat(operations()).containsExactly(Operation.GRANTED);
    }

    @Test
    void isUnqueuedWhenItIsLostBeforeItsGrant() {
        begin();
        stores.waiting(TTL, System.nanoTime());
        stores.gone(LossReason.GONE, "the session ended");

        assertThat(engines.ending()).contains(new Ticket.Ending(LossReason.GONE, "the session ended"));
        assertThat(operations()).containsExactly(Operation.QUEUED, Operation.UNQUEUED);
    }

    @Test
    void isNotUnqueuedWhenItIsLostAfterItsGrant() {
        begin();
        stores.granted(TOKEN, TTL, System.nanoTime());
        stores.gone(LossReason.FORCED, "by force");

        assertThat(heard.reports).containsExactly("granted", "ended FORCED");
        assertThat(operations()).containsExactly(Operation.GRANTED);
    }

    @Test
    void passesFailuresAndDowngradesOn() {
        long sent = begin();
        stores.granted(TOKEN, TTL, System.nanoTime());
        stores.failing(new StoreUnavailableException("orders", "it is away"));
        stores.downgraded();
        tapped.finish(sent);

        assertThat(heard.reports).containsExactly("granted", "failing");
        assertThat(engines.demand()).isEqualTo(Demand.shared());
    }

    private long begin() {
        long now = System.nanoTime();
        tapped.begin(now);
        return now;
    }

    private List<Event> events() {
        return HistoryReader.directory(directory);
    }

    private List<Operation> operations() {
        return events().stream().map(Event::operation).toList();
    }

    private Event only(Operation operation) {
        List<Event> found = events().stream()
                .filter(event -> event.operation() == operation)
                .toList();
        assertThat(found).hasSize(1);
        return found.get(0);
    }

    /** What the engine's ticket tells the engine. */
    private static final class Heard implements Ticket.Listener {

        private final List<String> reports = new ArrayList<>();

        @Override
        public void granted() {
            reports.add("granted");
        }

        @Override
        public void kept() {
            reports.add("kept");
        }

        @Override
        public void failing(LockException cause) {
            reports.add("failing");
        }

        @Override
        public void ended(Ticket.Ending why) {
            reports.add("ended " + why.reason());
        }

        @Override
        public void unwanted() {
            reports.add("unwanted");
        }
    }
}
