package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.ClientClosedException;
import io.holdfast.DistributedLock;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockEvent;
import io.holdfast.LockException;
import io.holdfast.Loss;
import io.holdfast.LossReason;
import io.holdfast.ReleaseResult;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A holder that loses its lease is told, whether or not the store can be reached. */
@DisplayName("P5 told")
public abstract class ToldContract extends StoreContract {

    private final ConcurrentLinkedQueue<LockEvent> events = new ConcurrentLinkedQueue<>();

    private Holdfast listening(StoreTap tap) {
        return client(tap, builder -> builder.listener(events::add));
    }

    @Test
    void aLeaseThatCannotBeRenewedTurnsInvalidByItselfAndSaysSo() throws Exception {
        StoreTap tap = tap().on(Operation.RENEW, StoreTap.FAIL);
        Holdfast client = listening(tap);
        Map<Hold, CompletableFuture<Loss>> held = new HashMap<>();
        for (Kind kind : supportedKinds()) {
            CompletableFuture<Loss> told = new CompletableFuture<>();
            Hold hold = kind.of(client, name(kind.name()), shortLived()).acquire();
            hold.onLost(told::complete);
            held.put(hold, told);
        }

        StoreTap.pause(shortTtl());
        assertThat(held.keySet()).as("one ttl after the grant, with no renewal").noneMatch(Hold::isValid);

        for (Hold hold : held.keySet()) {
            assertThat(hold.remaining()).isZero();
            assertThat(get(held.get(hold)).reason()).isEqualTo(LossReason.EXPIRED);
            assertThatThrownBy(hold::requireValid).isInstanceOf(LeaseLostException.class);
            assertThat(hold.release()).isEqualTo(ReleaseResult.ALREADY_LOST);
        }
        soon().until(() -> events.stream().anyMatch(LockEvent.Lost.class::isInstance));
    }

    @Test
    void aFailingRenewalIsNotALoss() throws Exception {
        StoreTap tap = tap().on(Operation.RENEW, StoreTap.FAIL);
        CompletableFuture<Loss> told = new CompletableFuture<>();
        try (Lease lease = listening(tap)
                .lock(name(), longLived().withTtl(renewedTtl().multipliedBy(2)))
                .acquire()) {
            lease.onLost(told::complete);
            soon().until(() -> events.stream().anyMatch(LockEvent.RenewalFailing.class::isInstance));

            assertThat(events)
                    .filteredOn(LockEvent.RenewalFailing.class::isInstance)
                    .first()
                    .satisfies(event -> assertThat(((LockEvent.RenewalFailing) event).stillValidFor())
                            .isPositive());
            assertThat(lease.isValid()).isTrue();
            assertThat(told).isNotDone();

            tap.heal();
            soon().until(() -> events.stream().anyMatch(LockEvent.Renewed.class::isInstance));
            assertThat(lease.isValid()).isTrue();
        }
        assertThat(told).as("a released lease is never lost").isNotDone();
        assertThat(events).doesNotHaveAnyElementsOfTypes(LockEvent.Lost.class);
    }

    @Test
    void aLeaseTheStoreNoLongerKnowsIsLostAtTheNextRenewal() throws Exception {
        AtomicReference<Ticket> asked = new AtomicReference<>();
        StoreTap tap = tap().on(Operation.TRY, call -> {
            asked.set(call.ticket());
            return call.proceed();
        });
        CompletableFuture<Loss> told = new CompletableFuture<>();
        Lease lease = client(tap).lock(name(), renewed()).tryAcquire().orElseThrow();
        lease.onLost(told::complete);

        assertThat(new DirectStore(tap).withdrawBehindTheBackOf(asked.get())).isEqualTo(Withdrawal.REMOVED);

        assertThat(get(told).reason()).isEqualTo(LossReason.GONE);
        assertThat(lease.isValid()).isFalse();
        awaitFree(name());
    }

    @Test
    void whoeverAsksLateIsToldAtOnceAndWhoeverReleasedIsNotTold() throws Exception {
        DistributedLock lock = client().lock(name(), shortLived().withMaxHold(Duration.ofMillis(50)));
        Lease lost = lock.acquire();
        soon().until(() -> !lost.isValid());
        CompletableFuture<Loss> late = new CompletableFuture<>();
        soon().until(() -> lost.release() == ReleaseResult.ALREADY_LOST);
        lost.onLost(late::complete);
        assertThat(get(late).token()).isEqualTo(lost.token());

        CompletableFuture<Loss> never = new CompletableFuture<>();
        Lease released = client().lock(name(), longLived()).acquire();
        released.onLost(never::complete);
        assertThat(released.release()).isEqualTo(ReleaseResult.RELEASED);
        assertThat(released.release()).as("again").isEqualTo(ReleaseResult.RELEASED);
        assertThat(never).isNotDone();
    }

    @Test
    void aLeaseHeldTooLongIsGivenUpAndTheHolderTold() throws Exception {
        CompletableFuture<Loss> told = new CompletableFuture<>();
        Lease lease = client().lock(name(), longLived().withMaxHold(Duration.ofMillis(150)))
                .acquire();
        lease.onLost(told::complete);
        assertThat(lease.remaining()).isLessThanOrEqualTo(Duration.ofMillis(150));

        assertThat(get(told).reason()).isEqualTo(LossReason.MAX_HOLD);
        assertThat(lease.isValid()).isFalse();
        awaitFree(name());
    }

    @Test
    void closingAClientTellsLeasesInUseAndRefusesNewOnes() throws Exception {
        Holdfast closing = client();
        DistributedLock lock = closing.lock(name(), longLived());
        CompletableFuture<Loss> told = new CompletableFuture<>();
        Lease lease = lock.acquire();
        lease.onLost(told::complete);

        closing.close();

        assertThat(lease.isValid()).isFalse();
        assertThat(get(told).reason()).isEqualTo(LossReason.CLOSED);
        assertThat(lease.release()).isEqualTo(ReleaseResult.ALREADY_LOST);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(ClientClosedException.class);
        assertThatThrownBy(() -> closing.lock(name())).isInstanceOf(ClientClosedException.class);
        awaitFree(name());
    }

    @Test
    void aHolderWhoseServerIsUnreachableIsToldAndDeadlinesAreKept() throws Exception {
        assumeTrue(subject().faults().isPresent(), "the way to the server cannot be cut");
        Duration timeout = Duration.ofSeconds(1);
        Holdfast client = client(
                subject().store(), builder -> builder.requestTimeout(timeout).closeTimeout(timeout));
        // To connect may take longer than a request.
        soon().ignoreExceptionsInstanceOf(LockException.class)
                .until(() -> client.lock(name("connected")).acquire().release() == ReleaseResult.RELEASED);
        CompletableFuture<Loss> told = new CompletableFuture<>();
        Lease lease = client.lock(name(), shortLived()).acquire();
        lease.onLost(told::complete);
        DistributedLock other = client.lock(name("other"), longLived());

        subject().faults().orElseThrow().cut();

        assertThat(get(told).reason()).isEqualTo(LossReason.EXPIRED);
        long started = System.nanoTime();
        assertThatThrownBy(other::tryAcquire).isInstanceOf(LockException.class);
        assertThatThrownBy(() -> other.tryAcquire(timeout)).isInstanceOf(LockException.class);
        assertThat(Duration.ofNanos(System.nanoTime() - started))
                .isLessThan(timeout.multipliedBy(2).plus(SLACK));
        subject().faults().orElseThrow().heal();
    }
}
