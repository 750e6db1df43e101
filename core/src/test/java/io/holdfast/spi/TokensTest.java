package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Waiter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Tokens")
class TokensTest {

    private static final long LARGEST = (1L << 53) - 1;

    @Test
    @DisplayName("P2 those of users grow with those of the store, and between them from handoff to handoff")
    void thoseOfUsersGrowWithThoseOfTheStoreAndFromHandoffToHandoff() {
        for (long store : List.of(1L, 2L, 1_000_000L, LARGEST - 1)) {
            assertThat(Tokens.ofUsers(store, 1)).isEqualTo(Tokens.ofUsers(store, 0) + 1);
            assertThat(Tokens.ofUsers(store, Tokens.MOST_LOCAL_NUMBERS)).isLessThan(Tokens.ofUsers(store + 1, 0));
        }
    }

    @Test
    void thoseOfUsersTellThatOfTheStore() {
        for (long store : List.of(1L, 4711L, LARGEST)) {
            assertThat(Tokens.ofStore(Tokens.ofUsers(store, 0))).isEqualTo(store);
            assertThat(Tokens.ofStore(Tokens.ofUsers(store, Tokens.MOST_LOCAL_NUMBERS)))
                    .isEqualTo(store);
        }
    }

    @Test
    void areTurnedInViewsAndForeignHoldersHaveNone() {
        Holder ours = new Holder(
                Optional.empty(),
                Demand.shared(),
                Optional.of(5L),
                Optional.empty(),
                Optional.of(Duration.ofSeconds(1)));
        Holder foreign =
                new Holder(Optional.empty(), Demand.exclusive(), Optional.empty(), Optional.empty(), Optional.empty());
        Waiter waiter = new Waiter(Optional.empty(), Demand.exclusive(), Optional.empty());

        LockView users = Tokens.ofUsers(new LockView("orders", List.of(ours, foreign), List.of(waiter)));

        assertThat(users.name()).isEqualTo("orders");
        assertThat(users.holders()).extracting(Holder::token).containsExactly(Optional.of(5L * 1024), Optional.empty());
        assertThat(users.holders()).extracting(Holder::timeLeft).containsExactly(ours.timeLeft(), foreign.timeLeft());
        assertThat(users.waiters()).containsExactly(waiter);
    }
}
