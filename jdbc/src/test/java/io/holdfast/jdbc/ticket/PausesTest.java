package io.holdfast.jdbc.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.jdbc.row.Kind;
import io.holdfast.jdbc.row.LockSql;
import io.holdfast.jdbc.row.LockState;
import java.time.Duration;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Pauses between looks at a lock")
class PausesTest {

    private static final int CLIENTS = 1_000;

    private static LockState held(long token, int ahead, int before) {
        int most = LockSql.COUNTED_AHEAD + 1;
        return new LockState(Kind.EXCLUSIVE, 1, 1, 100, token, 0, 1, Math.min(ahead, most), Math.min(before, most));
    }

    /** What it comes to when nothing moves. */
    private static long atLast(LockState state, int locks) {
        Pauses pauses = new Pauses();
        return IntStream.range(0, 100)
                .mapToLong(i -> pauses.after(state, locks, i))
                .max()
                .orElseThrow();
    }

    private static double looksPerSecond(IntFunction<LockState> ofClient) {
        return IntStream.range(0, CLIENTS)
                .mapToDouble(client -> 1e9 / atLast(ofClient.apply(client), 1))
                .sum();
    }

    @Test
    @DisplayName("P9 a thousand clients that wait cost the server some 1,500 looks a second")
    void costTheServerLittleHoweverManyWait() {
        assertThat(looksPerSecond(client -> held(7, client, 0))).isLessThan(2_000);
    }

    @Test
    @DisplayName("P9 readers that wait together look as rarely, though none is in the other's way")
    void costTheServerLittleIfReadersWaitTogether() {
        assertThat(looksPerSecond(client -> held(7, 0, client))).isLessThan(4_000);
    }

    @Test
    @DisplayName("P9 who is far behind looks rarely though the queue moves all the time")
    void areLongFarBehindThoughTheQueueMoves() {
        Pauses pauses = new Pauses();

        for (int token = 1; token < 10; token++) {
            assertThat(pauses.after(held(token, CLIENTS, 0), 1, token))
                    .isGreaterThan(Duration.ofMillis(500).toNanos());
        }
    }

    @Test
    @DisplayName("P4 nobody looks so rarely that a lock whose queue has died passes on too late")
    void areNeverAsLongAsASecond() {
        for (int ahead = 0; ahead < CLIENTS; ahead += 10) {
            assertThat(atLast(held(7, ahead, ahead), CLIENTS))
                    .isLessThanOrEqualTo(Duration.ofMillis(750).toNanos());
        }
    }

    @Test
    void areShortForTheFirstUnlessItsClientWaitsForManyLocks() {
        assertThat(new Pauses().after(held(7, 0, 0), 1, 0))
                .isLessThan(Duration.ofMillis(1).toNanos());
        assertThat(atLast(held(7, 0, 0), 1)).isEqualTo(Duration.ofMillis(20).toNanos());
        assertThat(atLast(held(7, 0, 0), 100)).isEqualTo(Duration.ofMillis(100).toNanos());
    }

    @Test
    void beginAnewWhenTheQueueHasMoved() {
        Pauses pauses = new Pauses();
        IntStream.range(0, 100).forEach(i -> pauses.after(held(7, 1, 0), 1, i));

        assertThat(pauses.after(held(7, 0, 0), 1, 100))
                .isLessThan(Duration.ofMillis(1).toNanos());
        IntStream.range(0, 100).forEach(i -> pauses.after(held(7, 0, 0), 1, i));
        assertThat(pauses.after(held(8, 0, 0), 1, 200))
                .isLessThan(Duration.ofMillis(1).toNanos());
    }

    @Test
    @DisplayName("P9 a turn costs the server a few looks, however slow the server is and however many wait")
    void followThePaceOfALongQueue() {
        long turnNanos = Duration.ofMillis(20).toNanos();
        double looksPerTurn = IntStream.rangeClosed(20, LockSql.COUNTED_AHEAD)
                .mapToDouble(ahead -> turnNanos / (double) oncePaceIsKnown(ahead, turnNanos))
                .sum();

        assertThat(looksPerTurn).isLessThan(20);
    }

    private static long oncePaceIsKnown(int ahead, long turnNanos) {
        Pauses pauses = new Pauses();
        pauses.after(held(1, ahead + 2, 0), 1, 0);
        pauses.after(held(2, ahead + 1, 0), 1, turnNanos);
        return pauses.after(held(3, ahead, 0), 1, 2 * turnNanos);
    }

    @Test
    void takeNoLongHoldForThePaceOfTheQueue() {
        Pauses pauses = new Pauses();
        pauses.after(held(1, 102, 0), 1, 0);
        pauses.after(held(1, 102, 0), 1, Duration.ofSeconds(9).toNanos());

        assertThat(pauses.after(held(2, 101, 0), 1, Duration.ofSeconds(10).toNanos()))
                .isLessThan(Duration.ofMillis(50).toNanos());
    }
}
