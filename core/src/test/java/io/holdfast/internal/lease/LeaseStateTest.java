package io.holdfast.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.RepeatedTest;

@DisplayName("The lease's states")
class LeaseStateTest {

    private static final int LEASES = 200_000;

    private final List<LeaseState> states =
            Stream.generate(LeaseState::new).limit(LEASES).toList();
    private final CyclicBarrier start = new CyclicBarrier(2);

    @RepeatedTest(5)
    void endOnceThoughTwoLoseThemAtOnce() {
        assertThat(endedBy(LeaseState::lose, LeaseState::lose)).isEqualTo(LEASES);
    }

    @RepeatedTest(5)
    void endOnceThoughOneReleasesThemWhileAnotherLosesThem() {
        assertThat(endedBy(LeaseState::beginRelease, LeaseState::lose)).isEqualTo(LEASES);
    }

    /** How often somebody was told to have ended one. */
    private long endedBy(Predicate<LeaseState> one, Predicate<LeaseState> other) {
        CompletableFuture<Long> beside = CompletableFuture.supplyAsync(() -> count(other));
        return count(one) + beside.join();
    }

    private long count(Predicate<LeaseState> end) {
        try {
            start.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
        return states.stream().filter(end).count();
    }
}
