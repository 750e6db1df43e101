package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static io.holdfast.ManualClient.awaitQuietly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.holdfast.spi.Ticket;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A leadership")
@Timeout(60)
class LeadershipTest {

    private final ManualClient client = new ManualClient();
    private final Election election = client.holdfast.election("leader");
    private final List<Long> elected = new CopyOnWriteArrayList<>();
    private final List<Loss> deposed = new CopyOnWriteArrayList<>();

    @AfterEach
    void close() {
        client.store.beforeAsk = () -> {};
        client.close();
    }

    @Test
    void ofACampaignCancelledAroundItsGrantIsNeverTold() throws Exception {
        election.onElected(elected::add);
        AtomicInteger cancelled = new AtomicInteger();
        for (int i = 0; i < 300; i++) {
            CompletableFuture<Long> campaign = election.campaignAsync();
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(200_000));
            if (campaign.cancel(true)) {
                cancelled.incrementAndGet();
                atOnce().until(() -> !election.isLeader() && !client.isHeld("leader"));
            } else {
                long epoch = campaign.get();
                atOnce().until(() -> elected.contains(epoch));
                elected.clear();
                election.resign();
            }
            assertThat(elected).as("told of a cancelled campaign").isEmpty();
        }
        assertThat(cancelled).hasPositiveValue();
    }

    /** Looks more often than others do, since it is asked hundreds of times. */
    private static ConditionFactory atOnce() {
        return await().pollInterval(Duration.ofMillis(1));
    }

    @Test
    @DisplayName("P5 is told, and its loss too, though the work hangs on the campaign's future")
    void isToldAndItsLossTooThoughTheWorkHangsOnTheCampaignsFuture() {
        election.onElected(elected::add);
        election.onDeposed(deposed::add);
        Ticket elsewhere = client.holdElsewhere("leader");
        CountDownLatch stop = new CountDownLatch(1);
        try {
            election.campaignAsync().thenAccept(epoch -> awaitQuietly(stop));

            client.releaseElsewhere(elsewhere);
            await().until(() -> !elected.isEmpty());
            client.store.network = FaultyStore.Network.DOWN;
            client.time.advance(TTL);

            await().until(() -> !deposed.isEmpty());
        } finally {
            stop.countDown();
        }
    }

    @Test
    void isWonByAllThoughWorkHangsOnEveryCampaignsFuture() throws Exception {
        Ticket elsewhere = client.holdElsewhere("leader");
        CountDownLatch working = new CountDownLatch(3);
        CountDownLatch stop = new CountDownLatch(1);
        try {
            for (int i = 0; i < 3; i++) {
                blockWhenDone(election.campaignAsync(), working, stop);
            }

            client.releaseElsewhere(elsewhere);

            assertThat(working.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            stop.countDown();
        }
    }

    @Test
    void wonByAskingOnceIsNotKeptWaitingByWorkThatHangsOnAnotherCampaign() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch asked = holdBackTheNextAnswer(answer);
        CountDownLatch stop = new CountDownLatch(1);
        try {
            Election inOrder = client.holdfast.election("leader", ManualClient.OPTIONS.withFairness(Fairness.FIFO));
            CountDownLatch working = new CountDownLatch(1);
            blockWhenDone(inOrder.campaignAsync(), working, stop);
            assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();

            Background<OptionalLong> once = Background.run(() -> inOrder.campaign(Duration.ZERO));

            assertThat(once.get(10, TimeUnit.SECONDS)).isPresent();
            assertThat(working.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            answer.countDown();
            stop.countDown();
        }
    }

    private static void blockWhenDone(
            CompletableFuture<Long> campaign, CountDownLatch blocked, CountDownLatch unblock) {
        campaign.whenComplete((epoch, failure) -> {
            blocked.countDown();
            awaitQuietly(unblock);
        });
    }

    @Test
    void isNotWaitedForThoughWhatHangsOnACancelledCampaignBlocks() throws Exception {
        client.holdElsewhere("leader");
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch unblock = new CountDownLatch(1);
        try {
            CompletableFuture<Long> campaign = election.campaignAsync();
            blockWhenDone(campaign, blocked, unblock);
            await().until(() -> !election.inspect().waiters().isEmpty());

            Background<Boolean> cancelling = Background.run(() -> campaign.cancel(true));

            assertThat(blocked.await(10, TimeUnit.SECONDS)).isTrue();
            await().until(() -> election.inspect().waiters().isEmpty());
            unblock.countDown();
            assertThat(cancelling.get(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            unblock.countDown();
        }
    }

    @Test
    void closingWaitsForNothingThatHangsOnACampaign() throws Exception {
        client.holdElsewhere("leader");
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch unblock = new CountDownLatch(1);
        try {
            blockWhenDone(election.campaignAsync(), blocked, unblock);
            await().until(() -> !election.inspect().waiters().isEmpty());

            Background<Boolean> closing = Background.run(() -> {
                election.close();
                return true;
            });

            assertThat(closing.get(10, TimeUnit.SECONDS)).isTrue();
            assertThat(blocked.await(10, TimeUnit.SECONDS)).isTrue();
            await().until(() -> election.inspect().waiters().isEmpty());
        } finally {
            unblock.countDown();
        }
    }

    @Test
    void isNotWonByACampaignThatAUserHasCompleted() throws Exception {
        election.onElected(elected::add);
        Ticket elsewhere = client.holdElsewhere("leader");
        CompletableFuture<Long> completed = election.campaignAsync();
        CompletableFuture<Long> failed = election.campaignAsync();
        CompletableFuture<Long> byAnother = election.campaignAsync();
        await().until(() -> !election.inspect().waiters().isEmpty());

        assertThat(completed.complete(5L)).isTrue();
        assertThat(completed.complete(6L)).isFalse();
        assertThat(completed.cancel(true)).isFalse();
        assertThat(failed.completeExceptionally(new IOException("own"))).isTrue();
        assertThat(failed.completeExceptionally(new IOException("another"))).isFalse();
        byAnother.completeAsync(() -> 7L, Runnable::run);
        client.releaseElsewhere(elsewhere);

        assertThat(completed).isCompletedWithValue(5L);
        assertThat(failed).isCompletedExceptionally().isNotCancelled();
        assertThat(byAnother).isCompletedWithValue(7L);
        await().during(Duration.ofMillis(100)).until(() -> !election.isLeader() && !client.isHeld("leader"));
        assertThat(election.inspect().waiters()).isEmpty();
        assertThat(elected).isEmpty();
    }

    @Test
    void isNotWonByAThreadThatIsInterruptedAtItsGrant() throws Exception {
        election.onElected(elected::add);
        int interrupted = 0;
        for (int i = 0; i < 300; i++) {
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            Background<Long> campaign = Background.run(() -> {
                thread.complete(Thread.currentThread());
                return election.campaign();
            });
            Thread campaigning = thread.get();
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(200_000));
            campaigning.interrupt();
            try {
                long epoch = campaign.get(10, TimeUnit.SECONDS);
                atOnce().until(() -> elected.contains(epoch));
                elected.clear();
                election.resign();
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(InterruptedException.class);
                interrupted++;
                atOnce().until(() -> !election.isLeader() && !client.isHeld("leader"));
            }
            assertThat(elected).as("told of an interrupted campaign").isEmpty();
        }
        assertThat(interrupted).isPositive();
    }

    @Test
    void closingEndsAThreadThatCampaigns() throws Exception {
        client.holdElsewhere("leader");
        Background<Long> endless = Background.run(election::campaign);
        Background<OptionalLong> limited = Background.run(() -> election.campaign(Duration.ofDays(1)));
        await().until(() -> !election.inspect().waiters().isEmpty() && endless.isParked() && limited.isParked());

        election.close();

        for (Background<?> campaign : List.of(endless, limited)) {
            assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> campaign.get(10, TimeUnit.SECONDS));
        }
        await().until(() -> election.inspect().waiters().isEmpty());
    }

    @Test
    void isNotWonThroughAClosedElection() {
        election.close();

        assertThatExceptionOfType(CancellationException.class).isThrownBy(election::campaign);
        assertThatExceptionOfType(CancellationException.class)
                .isThrownBy(() -> election.campaign(Duration.ofSeconds(1)));
        assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> election.campaign(Duration.ZERO));
        assertThat(election.campaignAsync()).isCancelled();
        assertThat(client.store.asks).hasValue(0);
    }

    @Test
    void isWonByAllWhoCampaignTogetherAndEndsOnce() throws Exception {
        election.onElected(elected::add);
        Ticket elsewhere = client.holdElsewhere("leader");
        CompletableFuture<Long> first = election.campaignAsync();
        CompletableFuture<Long> second = election.campaignAsync();
        await().until(() -> !election.inspect().waiters().isEmpty());
        assertThat(election.inspect().waiters()).as("one candidate").hasSize(1);

        client.releaseElsewhere(elsewhere);

        assertThat(first.get(10, TimeUnit.SECONDS)).isEqualTo(second.get(10, TimeUnit.SECONDS));
        await().until(() -> elected.size() == 1);
        election.resign();
        await().during(Duration.ofMillis(100)).until(() -> !election.isLeader() && !client.isHeld("leader"));
        assertThat(elected).hasSize(1);
    }

    @Test
    void wonByAskingOnceEndsTheCampaignThatWasOnItsWay() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        CountDownLatch asked = holdBackTheNextAnswer(answer);
        // Without a gate, or the campaign would be inside it before it asks.
        Election inOrder = client.holdfast.election("leader", ManualClient.OPTIONS.withFairness(Fairness.FIFO));
        CompletableFuture<Long> campaign = inOrder.campaignAsync();
        assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();

        OptionalLong epoch = inOrder.campaign(Duration.ZERO);
        answer.countDown();

        assertThat(epoch).isPresent();
        assertThat(campaign.get(10, TimeUnit.SECONDS)).isEqualTo(epoch.getAsLong());
        inOrder.resign();
        await().during(Duration.ofMillis(100)).until(() -> !inOrder.isLeader() && !client.isHeld("leader"));
    }

    /** Counted down when the store is asked for the lock; that request goes on when it is answered. */
    private CountDownLatch holdBackTheNextAnswer(CountDownLatch answer) {
        CountDownLatch asked = new CountDownLatch(1);
        client.store.beforeAsk = () -> {
            client.store.beforeAsk = () -> {};
            asked.countDown();
            awaitQuietly(answer);
        };
        return asked;
    }

    @Test
    void thatIsLostIsToldThoughNobodyAskedToHearOfTheElection() throws Exception {
        election.onDeposed(deposed::add);
        election.campaign();
        client.store.network = FaultyStore.Network.DOWN;

        client.time.advance(TTL);

        await().untilAsserted(() -> assertThat(deposed).extracting(Loss::reason).containsExactly(LossReason.EXPIRED));
        assertThat(election.isLeader()).isFalse();
    }

    @Test
    void endsByReleasingItsLease() throws Exception {
        election.onDeposed(deposed::add);
        long epoch = election.campaign();
        Lease lease = election.leadership().orElseThrow();

        lease.release();

        assertThat(lease.token()).isEqualTo(epoch);
        assertThat(election.isLeader()).isFalse();
        assertThat(election.leadership()).isEmpty();
        assertThat(election.epoch()).isEmpty();
        assertThat(election.campaign()).isGreaterThan(epoch);
        assertThat(deposed).isEmpty();
    }

    @Test
    void canBeSeenByThoseWhoDoNotCampaign() throws Exception {
        Election onlooker = client.holdfast.election("leader");
        assertThat(onlooker.leader()).isEmpty();

        long epoch = election.campaign();

        assertThat(onlooker.leader().orElseThrow().token()).contains(epoch);
        assertThat(onlooker.isLeader()).isFalse();
    }

    // lead()

    @Test
    void isResignedWhenItsWorkIsDone() throws Exception {
        List<Long> epochs = new CopyOnWriteArrayList<>();

        election.lead(lease -> {
            assertThat(election.isLeader()).isTrue();
            epochs.add(lease.token());
        });

        assertThat(epochs).hasSize(1);
        assertThat(election.isLeader()).isFalse();
        assertThat(client.isHeld("leader")).isFalse();
    }

    @Test
    void whoseWorkFailsIsResigned() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> election.<IOException>lead(lease -> {
                    throw new IOException("the work's own");
                }));
        assertThat(client.isHeld("leader")).isFalse();

        assertThatExceptionOfType(StackOverflowError.class)
                .isThrownBy(() -> election.<RuntimeException>lead(lease -> {
                    throw new StackOverflowError("the work's own");
                }));
        assertThat(client.isHeld("leader")).isFalse();
        assertThat(election.isLeader()).isFalse();
    }

    @Test
    @DisplayName("P5 that is lost interrupts its work, which is begun anew with the next")
    void thatIsLostInterruptsItsWorkWhichIsBegunAnewWithTheNext() throws Exception {
        List<Long> epochs = new CopyOnWriteArrayList<>();
        Background<Boolean> leading = Background.run(() -> {
            election.lead(lease -> {
                epochs.add(lease.token());
                if (epochs.size() == 1) {
                    new CountDownLatch(1).await();
                }
            });
            return Thread.currentThread().isInterrupted();
        });
        await().until(() -> epochs.size() == 1);
        client.store.network = FaultyStore.Network.DOWN;
        client.time.advance(TTL);
        await().until(() -> !election.isLeader());
        client.store.network = FaultyStore.Network.UP;

        client.passUntil(Duration.ofMillis(100), leading::isDone);

        assertThat(leading.get()).as("the interrupt flag is the election's").isFalse();
        assertThat(epochs).hasSize(2).isSorted().doesNotHaveDuplicates();
        assertThat(client.isHeld("leader")).isFalse();
    }

    @Test
    void thatAnotherThreadResignsInterruptsItsWork() throws Exception {
        List<Long> epochs = new CopyOnWriteArrayList<>();
        Background<Boolean> leading = Background.run(() -> {
            election.lead(lease -> {
                epochs.add(lease.token());
                if (epochs.size() == 1) {
                    new CountDownLatch(1).await();
                }
            });
            return true;
        });
        await().until(() -> epochs.size() == 1 && leading.isParked());

        election.resign();

        assertThat(leading.get(10, TimeUnit.SECONDS)).isTrue();
        assertThat(epochs).hasSize(2);
    }

    @Test
    void thatItsWorkResignsIsNotWonAgain() throws Exception {
        AtomicInteger terms = new AtomicInteger();

        election.lead(lease -> {
            terms.incrementAndGet();
            election.resign();
        });

        assertThat(terms).hasValue(1);
    }

    @Test
    void ofAnElectionThatIsClosedInterruptsItsWorkAndIsNotWonAgain() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Background<Boolean> leading = Background.run(() -> {
            election.lead(lease -> {
                begun.countDown();
                new CountDownLatch(1).await();
            });
            return true;
        });
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

        election.close();

        assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> leading.get(10, TimeUnit.SECONDS));
        assertThat(client.isHeld("leader")).isFalse();
    }

    @Test
    void whoseThreadIsInterruptedFromOutsideEndsWithThat() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        Background<Boolean> leading = Background.run(() -> {
            thread.complete(Thread.currentThread());
            election.lead(lease -> {
                begun.countDown();
                new CountDownLatch(1).await();
            });
            return true;
        });
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

        thread.get().interrupt();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> leading.get(10, TimeUnit.SECONDS))
                .withCauseInstanceOf(InterruptedException.class);
        assertThat(client.isHeld("leader")).isFalse();
    }
}
