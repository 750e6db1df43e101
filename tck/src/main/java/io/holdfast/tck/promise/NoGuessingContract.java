package io.holdfast.tck.promise;

import static io.holdfast.tck.tap.StoreTap.LOSE_REPLY;
import static io.holdfast.tck.tap.StoreTap.LOSE_REQUEST;
import static io.holdfast.tck.tap.StoreTap.once;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.ClientClosedException;
import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockEvent;
import io.holdfast.LockException;
import io.holdfast.Loss;
import io.holdfast.LossReason;
import io.holdfast.ReleaseResult;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Withdrawal;
import io.holdfast.tck.promise.DirectStore.Claim;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Behaviour;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A request whose outcome is unknown is neither a grant nor a refusal, and leaves nothing behind. */
@DisplayName("P7 no guessing")
public abstract class NoGuessingContract extends StoreContract {

    static Stream<Named<Behaviour>> losses() {
        return Stream.of(Named.of("applied, reply lost", LOSE_REPLY), Named.of("request lost", LOSE_REQUEST));
    }

    @ParameterizedTest
    @MethodSource("losses")
    void anUnansweredTryIsUndone(Behaviour loss) {
        StoreTap tap = tap().on(Operation.TRY, once(loss));
        DistributedLock lock = client(tap).lock(name(), longLived());

        assertThatThrownBy(lock::tryAcquire).isInstanceOf(UnknownOutcomeException.class);

        awaitFree(name());
        assertThat(lock.tryAcquire()).as("the next try").isPresent();
    }

    @ParameterizedTest
    @MethodSource("losses")
    void anUnansweredRequestToWaitIsUndone(Behaviour loss) {
        StoreTap tap = tap().on(Operation.TRY, once(loss)).on(Operation.QUEUE, once(loss));
        DistributedLock lock = client(tap).lock(name(), longLived());

        assertThatThrownBy(lock::acquire).isInstanceOf(UnknownOutcomeException.class);

        awaitFree(name());
    }

    @ParameterizedTest
    @MethodSource("losses")
    void anUnansweredPlaceInTheQueueIsGivenUp(Behaviour loss) throws Exception {
        assumeQueueing();
        Lease holder = client().lock(name(), longLived()).acquire();
        StoreTap tap = tap().on(Operation.QUEUE, once(loss));
        DistributedLock lock = client(tap).lock(name(), longLived());

        assertThatThrownBy(lock::acquire).isInstanceOf(UnknownOutcomeException.class);

        awaitWaiters(name(), 0);
        assertThat(holder.isValid()).isTrue();
        holder.release();
        awaitFree(name());
    }

    @ParameterizedTest
    @MethodSource("losses")
    void anUnansweredReleaseIsRepeatedUntilTheLockIsFree(Behaviour loss) throws Exception {
        StoreTap tap = tap().on(Operation.RELEASE, once(loss));
        Lease lease = client(tap).lock(name(), longLived()).acquire();

        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);

        awaitFree(name());
        assertThat(lease.isValid()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("losses")
    void anUnansweredRenewalIsRepeatedWhileTheLeaseIsValid(Behaviour loss) throws Exception {
        ConcurrentLinkedQueue<LockEvent> events = new ConcurrentLinkedQueue<>();
        StoreTap tap = tap().on(Operation.RENEW, once(loss));
        Holdfast client = client(tap, builder -> builder.listener(events::add));

        try (Lease lease = client.lock(name(), renewed()).acquire()) {
            soon().until(() -> events.stream().anyMatch(LockEvent.Renewed.class::isInstance));
            assertThat(events).hasAtLeastOneElementOfType(LockEvent.RenewalFailing.class);
            assertThat(lease.isValid()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("losses")
    void anUnansweredWithdrawalIsRepeatedUntilThePlaceIsGone(Behaviour loss) throws Exception {
        assumeQueueing();
        StoreTap tap = tap().on(Operation.WITHDRAW, once(loss));
        try (Lease holder = client().lock(name(), longLived()).acquire()) {
            CompletableFuture<Lease> waiter =
                    client(tap).lock(name(), longLived()).acquireAsync();
            awaitWaiters(name(), 1);

            waiter.cancel(true);

            awaitWaiters(name(), 0);
            assertThat(holder.isValid()).isTrue();
        }
    }

    @Test
    void aGrantPushedToAWaiterThatNeverHeardOfItsPlaceGoesBack() throws Exception {
        assumeQueueing();
        Lease holder = client().lock(name(), longLived()).acquire();
        Behaviour releaseBeforeTheReply = call -> {
            call.proceed();
            holder.release();
            throw new UnknownOutcomeException(call.lockName(), "the reply was lost by the test");
        };
        StoreTap tap = tap().on(Operation.QUEUE, once(releaseBeforeTheReply));

        assertThatThrownBy(client(tap).lock(name(), longLived())::acquire).isInstanceOf(UnknownOutcomeException.class);

        awaitFree(name());
    }

    @Test
    void withdrawingRemovesGrantAndTicketAndIsIdempotent() {
        DirectStore direct = direct();
        Claim neverSent = direct.claim(name(), Demand.exclusive(), longTtl());
        assertThat(direct.withdraw(neverSent)).as("before it was sent").isEqualTo(Withdrawal.NOT_FOUND);
        Claim granted = direct.grant(name(), Demand.exclusive(), longTtl());
        assertThat(direct.withdraw(granted)).isEqualTo(Withdrawal.REMOVED);
        assertThat(direct.withdraw(granted)).isEqualTo(Withdrawal.NOT_FOUND);
        awaitFree(name());
    }

    @Test
    void withdrawingRemovesATicketFromTheQueueAndLetsThoseBehindItMoveUp() {
        assumeQueueing();
        DirectStore direct = direct();
        Claim holder = direct.grant(name(), Demand.exclusive(), longTtl());
        Claim first = direct.queued(name(), Demand.exclusive(), longTtl());
        Claim second = direct.queued(name(), Demand.exclusive(), longTtl());

        assertThat(direct.withdraw(first)).isEqualTo(Withdrawal.REMOVED);
        assertThat(direct.withdraw(first)).isEqualTo(Withdrawal.NOT_FOUND);
        assertThat(direct.release(holder)).isEqualTo(ReleaseAnswer.RELEASED);

        soon().until(second::isHeld);
        assertThat(first.hasBeenGranted()).isFalse();
        direct.release(second);
        awaitFree(name());
    }

    @Test
    void aRefusedTryLeavesNoTrace() throws Exception {
        try (Lease holder = client().lock(name(), longLived()).acquire()) {
            DirectStore direct = direct();
            Claim refused = direct.claim(name(), Demand.exclusive(), longTtl());

            assertThat(direct.tryOnce(refused)).isPresent();
            assertThat(refused.hasBeenGranted()).isFalse();

            assertThat(view(name()).waiters()).isEmpty();
            assertThat(view(name()).holders()).hasSize(1);
            assertThat(direct.withdraw(refused)).isEqualTo(Withdrawal.NOT_FOUND);
        }
        awaitFree(name());
    }

    @Test
    void anInterruptedWaiterLeavesNothing() throws Exception {
        DistributedLock lock = client().lock(name(), longLived());
        Lease holder = client().lock(name(), longLived()).acquire();
        AtomicReference<Thread> waiting = new AtomicReference<>();
        Future<Lease> waiter = fork(() -> {
            waiting.set(Thread.currentThread());
            return lock.acquire();
        });
        soon().until(() -> waiting.get() != null && waiting.get().getState() == Thread.State.TIMED_WAITING);
        waiting.get().interrupt();

        assertThatThrownBy(() -> get(waiter))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        awaitWaiters(name(), 0);
        holder.release();
        awaitFree(name());
    }

    @Test
    void aWaiterThatTimesOutKeepsItsDeadlineAndLeavesNothing() throws Exception {
        DistributedLock lock = client().lock(name(), longLived());
        Lease holder = client().lock(name(), longLived()).acquire();
        Duration maxWait = briefly();
        assertThat(lock.tryAcquire()).isEmpty();
        long started = System.nanoTime();

        assertThat(lock.tryAcquire(maxWait)).isEmpty();

        assertThat(Duration.ofNanos(System.nanoTime() - started)).isBetween(maxWait, maxWait.plus(SLACK));
        awaitWaiters(name(), 0);
        holder.release();
        awaitFree(name());
    }

    @Test
    void aCancelledFutureLeavesNothing() throws Exception {
        DistributedLock lock = client().lock(name(), longLived());
        Lease holder = client().lock(name(), longLived()).acquire();
        CompletableFuture<Lease> waiter = lock.acquireAsync();
        CompletableFuture<Lease> behind = lock.acquireAsync();

        waiter.cancel(true);
        holder.release();

        get(behind).release();
        awaitFree(name());
    }

    @Test
    void closingAClientDuringAcquireFailsItsWaitersAndLeavesNothing() throws Exception {
        Holdfast closing = client();
        DistributedLock lock = closing.lock(name(), longLived());
        Lease holder = client().lock(name(), longLived()).acquire();
        CompletableFuture<Lease> waiter = lock.acquireAsync();
        Future<Lease> thread = fork(lock::acquire);
        soon().until(() -> !waiter.isDone());

        closing.close();

        assertThatThrownBy(() -> get(waiter)).hasCauseInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> get(thread)).hasCauseInstanceOf(ClientClosedException.class);
        awaitWaiters(name(), 0);
        holder.release();
        awaitFree(name());
    }

    @Test
    void closingInOnLostLeavesNothingHeld() throws Exception {
        CompletableFuture<Loss> lost = new CompletableFuture<>();
        Holdfast closing = client(subject().store(), builder -> builder.executor(this::runAsFarAsItGets));
        Lease lease = closing.lock(name(), longLived().withMaxHold(Duration.ofMillis(100)))
                .acquire();

        lease.onLost(loss -> {
            closing.close();
            lost.complete(loss);
        });

        assertThat(get(lost).reason()).isEqualTo(LossReason.MAX_HOLD);
        assertThat(view(name()).isHeld()).isFalse();
    }

    /** On a thread of its own; returns when that has ended or waits, here for the thread that called this. */
    private void runAsFarAsItGets(Runnable task) {
        Thread thread = new Thread(task, name("callback"));
        thread.setDaemon(true);
        thread.start();
        soon().until(() -> switch (thread.getState()) {
            case WAITING, TIMED_WAITING, TERMINATED -> true;
            case NEW, RUNNABLE, BLOCKED -> false;
        });
    }

    static Stream<Named<BiFunction<String, String, LockException>>> waysToRunOutOfTime() {
        return Stream.of(
                Named.of("not sent by its deadline", StoreUnavailableException::new),
                Named.of("not answered by its deadline", UnknownOutcomeException::new));
    }

    /** A thread comes through the gate with less than a round trip left: the store is healthy, the lock was taken. */
    @ParameterizedTest
    @MethodSource("waysToRunOutOfTime")
    void aRequestCutShortAfterAWaitForAnotherThreadIsNoException(BiFunction<String, String, LockException> failure)
            throws Exception {
        StoreTap tap = tap();
        DistributedLock lock = client(tap, builder -> builder.localHandoff(0, Duration.ofMillis(1)))
                .lock(name(), longLived());
        Lease held = lock.acquire();
        Behaviour untilDeadline = call -> {
            StoreTap.pause(((Deadline) Objects.requireNonNull(call.arguments()[2])).remaining());
            throw failure.apply(call.lockName(), "its time was over");
        };
        tap.on(Operation.TRY, untilDeadline).on(Operation.QUEUE, untilDeadline);
        FutureTask<Optional<Lease>> waiting = new FutureTask<>(() -> lock.tryAcquire(briefly()));
        Thread waiter = new Thread(waiting);
        waiter.start();
        soon().until(() -> waiter.getState() == Thread.State.TIMED_WAITING);

        held.release();

        assertThat(get(waiting)).isEmpty();
        tap.heal();
    }
}
