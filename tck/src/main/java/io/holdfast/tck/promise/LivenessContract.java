package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.DistributedLock;
import io.holdfast.DistributedSemaphore;
import io.holdfast.Fairness;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.tck.Faults;
import io.holdfast.tck.Mortal;
import io.holdfast.tck.tap.StoreTap;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Whoever dies, holding or waiting, is passed over within the ttl and a second. */
@Tag("core")
@DisplayName("P4 liveness")
public abstract class LivenessContract extends StoreContract {

    @Test
    @Tag("alone")
    void aDeadHoldersLockPassesOnWhateverItsKind() throws Exception {
        Mortal mortal = mortal();
        Holdfast doomed = client(mortal);
        Map<Kind, Hold> dead = new EnumMap<>(Kind.class);
        Map<Kind, Future<Lease>> next = new EnumMap<>(Kind.class);
        for (Kind kind : supportedKinds()) {
            dead.put(kind, kind.of(doomed, name(kind.name()), shortLived()).acquire());
            next.put(kind, fork(client().lock(name(kind.name()), longLived())::acquire));
        }

        mortal.die();

        for (Kind kind : supportedKinds()) {
            try (Lease lease = getWithin(passingOn(), next.get(kind))) {
                assertThat(dead.get(kind).isValid())
                        .as("validity of the dead %s", kind)
                        .isFalse();
                assertThat(lease.isValid())
                        .as("validity of the next after %s", kind)
                        .isTrue();
            }
        }
    }

    @Test
    @Tag("alone")
    void permitsOfADeadHolderComeBack() throws Exception {
        assumeSupports(Kind.PERMITS.needs());
        Mortal mortal = mortal();
        client(mortal).semaphore(name(), 3, shortLived()).permits(2).acquire();
        DistributedSemaphore semaphore = client().semaphore(name(), 3, shortLived());
        Lease one = semaphore.acquire();
        Future<Lease> two = fork(semaphore.permits(2)::acquire);

        mortal.die();

        getWithin(passingOn(), two).release();
        one.release();
    }

    @Test
    @Tag("alone")
    void aDeadWaiterDoesNotStallThoseBehindIt() throws Exception {
        assumeQueueing();
        Lease holder = client().lock(name(), longLived()).acquire();
        Mortal mortal = mortal();
        client(mortal).lock(name(), shortLived().withFairness(Fairness.FIFO)).acquireAsync();
        awaitWaiters(name(), 1);
        CompletableFuture<Lease> behind =
                client().lock(name(), longLived().withFairness(Fairness.FIFO)).acquireAsync();
        awaitWaiters(name(), 2);

        mortal.die();
        holder.release();

        getWithin(passingOn(), behind).release();
    }

    @Test
    void aWaiterThatDiesWhileTheHolderLivesLosesItsPlace() throws Exception {
        assumeQueueing();
        Mortal mortal = mortal();
        try (Lease holder = client().lock(name(), longLived()).acquire()) {
            client(mortal)
                    .lock(name(), shortLived().withFairness(Fairness.FIFO))
                    .acquireAsync();
            awaitWaiters(name(), 1);

            mortal.die();

            awaitWaiters(name(), 0);
            assertThat(holder.isValid()).isTrue();
        }
    }

    @Test
    void aWaitingClientKeepsItsPlaceBeyondItsTtl() throws Exception {
        assumeQueueing();
        Lease holder = client().lock(name(), renewed()).acquire();
        CompletableFuture<Lease> first = client().lock(name(), renewed()).acquireAsync();
        awaitWaiters(name(), 1);
        CompletableFuture<Lease> second = client().lock(name(), renewed()).acquireAsync();
        awaitWaiters(name(), 2);

        StoreTap.pause(renewedTtl().multipliedBy(3).dividedBy(2));
        holder.release();

        Lease lease = get(first);
        assertThat(second).as("the one that came second").isNotDone();
        lease.release();
        get(second).release();
    }

    @Test
    void aClosedClientFreesWhatItHoldsAtOnce() throws Exception {
        LockOptions options = LockOptions.defaults().withTtl(veryLongTtl());
        Holdfast closing = client();
        closing.lock(name(), options).acquire();
        Future<Lease> next = fork(client().lock(name(), options)::acquire);

        closing.close();

        getWithin(veryLongTtl().dividedBy(2), next).release();
    }

    @Test
    void aBreakShorterThanTheTtlCostsNeitherLeaseNorPlace() throws Exception {
        assumeTrue(subject().faults().isPresent(), "the way to the server cannot be cut");
        Faults faults = subject().faults().orElseThrow();
        ConcurrentLinkedQueue<LockEvent> events = new ConcurrentLinkedQueue<>();
        LockOptions options = longLived();
        Lease holder = client(subject().store(), builder -> builder.listener(events::add))
                .lock(name(), options)
                .acquire();
        DistributedLock waiting = client().lock(name(), options);
        Future<Lease> waiter = fork(waiting::acquire);
        soon().until(() -> events.stream().anyMatch(LockEvent.Renewed.class::isInstance));

        faults.cut();
        StoreTap.pause(longTtl().dividedBy(8));
        faults.heal();
        events.clear();

        soon().until(() -> events.stream().anyMatch(LockEvent.Renewed.class::isInstance));
        assertThat(holder.isValid()).isTrue();
        assertThat(waiter.isDone()).isFalse();
        holder.release();
        get(waiter).release();
    }

    private <T> T getWithin(Duration limit, Future<T> future) throws Exception {
        long started = System.nanoTime();
        T result = get(future);
        assertThat(Duration.ofNanos(System.nanoTime() - started))
                .as("P4: time to pass on")
                .isLessThan(limit);
        return result;
    }
}
