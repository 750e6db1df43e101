package io.holdfast.jdbc.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Where a queue begins")
class QueueFrontsTest {

    private static final String LOCK = "hot";

    private final QueueFronts fronts = new QueueFronts();

    private static long atMillis(long millis) {
        return Duration.ofMillis(millis).toNanos();
    }

    @Test
    void isNotKnownOfALockNobodyWasServedFor() {
        assertThat(fronts.of(LOCK)).isZero();
        assertThat(fronts.isBusy(LOCK, atMillis(0))).isFalse();
    }

    /** A smaller number may have been on its way to the table when it was served. */
    @Test
    @DisplayName("P6 is believed only of tickets that were served a while ago")
    void isBelievedAWhileAfterATicketWasServed() {
        for (int number = 1; number < 200; number++) {
            fronts.served(LOCK, number, true, atMillis(number));

            long servedMillisAgo = number - fronts.of(LOCK);
            assertThat(servedMillisAgo)
                    .as("served for the front of %d", number)
                    .satisfies(
                            ago -> assertThat(fronts.of(LOCK) == 0 || ago >= 50).isTrue());
        }
        assertThat(fronts.of(LOCK)).isGreaterThan(90);
    }

    @Test
    void isOneOfABusyLockIfTheLastTicketHadOthersAhead() {
        fronts.served(LOCK, 1, true, atMillis(0));

        assertThat(fronts.isBusy(LOCK, atMillis(10))).isTrue();
        assertThat(fronts.isBusy(LOCK, atMillis(30))).isFalse();
        fronts.served(LOCK, 2, false, atMillis(11));
        assertThat(fronts.isBusy(LOCK, atMillis(12))).isFalse();
    }

    @Test
    void isForgottenBeforeItFillsTheMemory() {
        for (int i = 0; i < 100_000; i++) {
            fronts.served("lock " + i, i, true, atMillis(0));
        }

        assertThat(fronts.isBusy("lock 5", atMillis(1))).isFalse();
        assertThat(fronts.isBusy("lock 99999", atMillis(1))).isTrue();
    }
}
