package io.holdfast.jdbc.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.jdbc.row.Kind;
import io.holdfast.jdbc.row.LockSql;
import io.holdfast.jdbc.row.LockState;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
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

    /** How the first in the queue watches turns of others, one after the other. */
    private static final class Watcher {

        private static final long LOOK_NANOS = Duration.ofNanos(200_000).toNanos();

        private final Pauses pauses = new Pauses();
        private long nowNanos = Duration.ofDays(1).toNanos();
        private int looks;
        private long lateNanos;

        /** Waits for the end of a turn that begins now. */
        void wait(Duration hold) {
            long tokenNanos = nowNanos;
            long freeNanos = nowNanos + hold.toNanos();
            looks++;
            for (nowNanos += LOOK_NANOS; nowNanos < freeNanos; nowNanos += LOOK_NANOS) {
                LockState held = new LockState(
                        Kind.EXCLUSIVE, 1, 1, Long.MAX_VALUE, tokenNanos / 1000, 0, nowNanos / 1000, 0, 0);
                nowNanos += pauses.after(held, 1, nowNanos);
                looks++;
            }
            pauses.granted(nowNanos);
            lateNanos += nowNanos - freeNanos;
        }

        /** The same so many times, and how late it was in the mean. */
        Duration meanLateness(int turns, LongFunction<Duration> holds) {
            looks = 0;
            lateNanos = 0;
            LongStream.range(0, turns).forEach(turn -> wait(holds.apply(turn)));
            return Duration.ofNanos(lateNanos / turns);
        }
    }

    @Test
    @DisplayName("where a lock is held for as long each time, its end is noticed soon, with few looks")
    void beginWhenTheLockIsUsuallyReleased() {
        for (int millis : List.of(5, 20, 50)) {
            Watcher watcher = new Watcher();
            Duration hold = Duration.ofMillis(millis);
            watcher.meanLateness(50, turn -> hold);

            assertThat(watcher.meanLateness(100, turn -> hold)).isLessThan(hold.dividedBy(8));
            assertThat(watcher.looks).isLessThan(700);
        }
    }

    @Test
    @DisplayName("where long and short holds take turns, short ones are noticed about as soon as without a guess")
    void areNotMisledByLongHolds() {
        Watcher watcher = new Watcher();

        assertThat(watcher.meanLateness(1_000, turn -> Duration.ofMillis(turn % 2 == 0 ? 1 : 50)))
                .isLessThan(Duration.ofMillis(3));
    }

    @Test
    @DisplayName("a lock that is held more shortly than it was is noticed late a few times only")
    void getShorterAgain() {
        Watcher watcher = new Watcher();
        watcher.meanLateness(100, turn -> Duration.ofMillis(50));
        watcher.meanLateness(10, turn -> Duration.ofMillis(1));

        assertThat(watcher.meanLateness(100, turn -> Duration.ofMillis(1))).isLessThan(Duration.ofMillis(1));
    }

    @Test
    @DisplayName("whoever is behind looks when half of those ahead may have had their turn")
    void leaveTimeToThoseAhead() {
        Watcher watcher = new Watcher();
        watcher.meanLateness(50, turn -> Duration.ofMillis(10));
        long now = watcher.nowNanos;
        LockState behind = new LockState(Kind.EXCLUSIVE, 1, 1, Long.MAX_VALUE, now / 1000 - 1000, 0, now / 1000, 3, 0);

        assertThat(watcher.pauses.after(behind, 1, now))
                .isBetween(
                        Duration.ofMillis(16).toNanos(), Duration.ofMillis(24).toNanos());
    }

    @Test
    @DisplayName("whoever is behind sleeps no longer by a guess, which may be wrong, than the first in the queue")
    void areNotMadeMuchLongerByAGuess() {
        Watcher watcher = new Watcher();
        watcher.meanLateness(50, turn -> Duration.ofMillis(100));
        long now = watcher.nowNanos;
        LockState behind = new LockState(Kind.EXCLUSIVE, 1, 1, Long.MAX_VALUE, now / 1000 - 1000, 0, now / 1000, 3, 0);

        assertThat(watcher.pauses.after(behind, 1, now))
                .isEqualTo(Duration.ofMillis(20).toNanos());
    }

    @Test
    @DisplayName("P9 a crowd looks as rarely as if nothing were usual once the lock is held for longer than that")
    void growBehindAHolderThatTakesLonger() {
        LockState[] states = IntStream.range(0, CLIENTS)
                .mapToObj(ahead -> new LockState(
                        Kind.EXCLUSIVE,
                        1,
                        1,
                        Long.MAX_VALUE,
                        1,
                        0,
                        Duration.ofMinutes(1).toNanos() / 1000,
                        Math.min(ahead, LockSql.COUNTED_AHEAD + 1),
                        0))
                .toArray(LockState[]::new);
        double looksPerSecond = Arrays.stream(states)
                .mapToDouble(state -> {
                    Watcher watcher = new Watcher();
                    watcher.meanLateness(50, turn -> Duration.ofMillis(5));
                    return 1e9
                            / LongStream.range(0, 100)
                                    .map(i -> watcher.pauses.after(state, 1, watcher.nowNanos + i))
                                    .skip(50)
                                    .min()
                                    .orElseThrow();
                })
                .sum();

        assertThat(looksPerSecond).isLessThan(2_000);
    }
}
