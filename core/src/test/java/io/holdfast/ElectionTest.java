package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Elections")
@Timeout(60)
class ElectionTest {

    private final ManualExecutor executor = new ManualExecutor();
    private final ManualClient client = new ManualClient(builder -> builder.executor(executor));
    private final Election election = client.holdfast.election("leader");
    private final List<Long> elected = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void candidateThatWithdrewIsNotElectedByALateGrant() {
        assertNotElectedAfter((closing, candidacy) -> candidacy.cancel(true));
    }

    @Test
    void closedElectionIsNotWonByALateGrant() {
        assertNotElectedAfter((closing, candidacy) -> closing.close());
    }

    private void assertNotElectedAfter(BiConsumer<Election, CompletableFuture<Long>> withdrawal) {
        election.onElected(elected::add);
        CompletableFuture<CompletableFuture<Long>> started = new CompletableFuture<>();
        // Granted, and on its way to the future.
        client.store.afterAsk = ticket -> withdrawal.accept(election, started.join());

        started.complete(election.campaignAsync());

        await().until(() -> client.store.releases.get() == 1);
        executor.runAll();
        await().until(() -> started.join().isCancelled());
        assertThat(elected).isEmpty();
        assertThat(election.isLeader()).isFalse();
        assertThat(client.isHeld("leader")).isFalse();
    }

    @Test
    void everyCallbackHearsOfADepositionThoughAnotherFails() throws InterruptedException {
        List<Loss> heard = new CopyOnWriteArrayList<>();
        election.onDeposed(loss -> {
            throw new IllegalStateException("a bug in a callback");
        });
        election.onDeposed(heard::add);
        election.campaign();

        client.holdfast.close();
        executor.runUntil(() -> !heard.isEmpty());

        assertThat(heard).extracting(Loss::reason).containsExactly(LossReason.CLOSED);
    }

    @Test
    void nobodyHearsThatHeIsElectedAfterHeWasDeposed() throws InterruptedException {
        election.onElected(elected::add);
        election.campaign();

        client.holdfast.close();
        executor.awaitTasks(2); // that it was elected, that it was deposed
        executor.runAll();

        assertThat(elected).isEmpty();
    }

    @Test
    void nobodyHearsThatHeIsElectedAfterHeResigned() throws InterruptedException {
        election.onElected(elected::add);
        election.campaign();

        election.resign();
        executor.awaitTasks(1);
        executor.runAll();

        assertThat(elected).isEmpty();
    }

    @Test
    void whoIsElectedHearsOfIt() throws InterruptedException {
        election.onElected(elected::add);

        long epoch = election.campaign();
        executor.awaitTasks(1);
        executor.runAll();

        assertThat(elected).containsExactly(epoch);
    }
}
