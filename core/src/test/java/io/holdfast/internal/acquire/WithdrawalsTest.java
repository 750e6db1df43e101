package io.holdfast.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Withdrawals under way")
class WithdrawalsTest {

    @Test
    @DisplayName("P7 keep no acquisition from ending, and nobody out, if no alarm limits them")
    void keepNoAcquisitionFromEndingIfNoAlarmLimitsThem() {
        Withdrawals withdrawals = new Withdrawals();

        withdrawals.add(
                new CompletableFuture<>(),
                (nanos, task) -> {
                    throw new IllegalStateException("no memory for an alarm (simulated)");
                },
                0);

        assertThat(withdrawals.underWay()).isDone();
    }
}
