package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Election;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.Loss;
import io.holdfast.MultiLease;
import io.holdfast.tck.Mortal;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Several locks at once, elections and the re-entrant view keep the promise too. */
@DisplayName("Several locks, elections, re-entrant locks")
public abstract class KindsContract extends StoreContract {

    // Several locks at once

    @Test
    void multiLocksThatNameTheSameLocksInAnyOrderDoNotDeadlock() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        List<Future<Void>> workers = new ArrayList<>();
        List<String> names = List.of(name("a"), name("b"), name("c"));
        for (int w = 0; w < 4; w++) {
            Holdfast client = client();
            int shift = w;
            workers.add(fork(() -> {
                for (int i = 0; i < 5; i++) {
                    String one = names.get((i + shift) % 3);
                    String two = names.get((i + shift + 1 + shift % 2) % 3);
                    try (MultiLease both = client.lockAll(one, two).acquire()) {
                        // Any two of three names have one in common.
                        assertThat(inside.incrementAndGet()).isEqualTo(1);
                        Thread.yield();
                        inside.decrementAndGet();
                        assertThat(both.token(one)).isPositive();
                    }
                }
                return null;
            }));
        }
        for (Future<Void> worker : workers) {
            get(worker);
        }
        names.forEach(this::awaitFree);
    }

    @Test
    void aMultiLeaseIsLostOnceOneOfItsLocksIs() throws Exception {
        StoreTap tap = tap();
        String unlucky = name("b");
        tap.on(Operation.RENEW, call -> {
            // Renewals go in batches; one that has the unlucky lock in it fails as a whole.
            boolean withUnlucky =
                    call.tickets().stream().anyMatch(ticket -> ticket.name().equals(unlucky));
            return withUnlucky ? StoreTap.FAIL.around(call) : call.proceed();
        });
        AtomicInteger told = new AtomicInteger();
        MultiLease lease =
                client(tap).lockAll(List.of(name("a"), unlucky), shortLived()).acquire();
        lease.onLost(loss -> told.incrementAndGet());

        soon().until(() -> !lease.isValid());
        soon().until(() -> told.get() == 1);
        assertThatThrownBy(lease::requireValid).isInstanceOf(LeaseLostException.class);
        lease.release();
        awaitFree(name("a"));
    }

    @Test
    void aCancelledMultiLockHoldsNothing() throws Exception {
        Lease holder = client().lock(name("b"), longLived()).acquire();
        CompletableFuture<MultiLease> waiter =
                client().lockAll(List.of(name("a"), name("b")), longLived()).acquireAsync();
        soon().until(() -> view(name("a")).isHeld());

        waiter.cancel(true);

        awaitFree(name("a"));
        holder.release();
        awaitFree(name("b"));
    }

    // Elections

    @Test
    void oneCandidateLeadsAndTheNextAfterItWithALargerEpoch() throws Exception {
        Election ours = client().election(name(), longLived());
        Holdfast theirClient = client();
        Election theirs = theirClient.election(name(), longLived());

        long epoch = ours.campaign();
        assertThat(ours.isLeader()).isTrue();
        assertThat(ours.campaign()).as("of a leader").isEqualTo(epoch);
        assertThat(theirs.inspect().holders()).hasSize(1);
        assertThat(theirClient.lock(name(), longLived()).tryAcquire()).isEmpty();
        assertThat(theirs.campaign(briefly())).isEmpty();
        assertThat(theirs.isLeader()).isFalse();

        CompletableFuture<Long> elected = new CompletableFuture<>();
        theirs.onElected(elected::complete);
        CompletableFuture<Long> candidacy = theirs.campaignAsync();
        ours.resign();

        assertThat(get(candidacy)).isGreaterThan(epoch);
        assertThat(get(elected)).isEqualTo(get(candidacy));
        assertThat(ours.isLeader()).isFalse();
        assertThat(theirs.epoch()).hasValue(get(candidacy));
        theirs.close();
        awaitFree(name());
    }

    @Test
    void aLeaderThatHearsNothingIsDeposedBeforeTheNextLeads() throws Exception {
        Mortal mortal = mortal();
        Election doomed = client(mortal).election(name(), shortLived());
        CompletableFuture<Loss> deposed = new CompletableFuture<>();
        doomed.onDeposed(deposed::complete);
        long epoch = doomed.campaign();
        Election next = client().election(name(), longLived());
        Future<Boolean> doomedStillLeads = fork(() -> {
            next.campaign();
            return doomed.isLeader();
        });

        mortal.die();

        assertThat(get(doomedStillLeads)).isFalse();
        assertThat(get(deposed).token()).isEqualTo(epoch);
        assertThat(next.epoch().orElseThrow()).isGreaterThan(epoch);
        next.resign();
    }

    @Test
    void aCandidacyWithdrawnLeavesNothing() throws Exception {
        try (Election leader = client().election(name(), longLived())) {
            leader.campaign();
            CompletableFuture<Long> candidacy =
                    client().election(name(), longLived()).campaignAsync();
            candidacy.cancel(true);
            awaitWaiters(name(), 0);
            assertThat(leader.isLeader()).isTrue();
        }
        awaitFree(name());
    }

    // The re-entrant view

    @Test
    void theReentrantViewIsOwnedByItsThreadUntilTheLastUnlock() throws Exception {
        Holdfast client = client();
        Lock lock = client.lock(name(), longLived()).asReentrantLock();
        Lock sameLock = client.lock(name(), longLived()).asReentrantLock();
        Lock theirs = client().lock(name(), longLived()).asReentrantLock();

        lock.lock();
        sameLock.lock();
        assertThat(lock.tryLock()).isTrue();
        assertThat(theirs.tryLock()).isFalse();
        assertThat(get(fork(() -> lock.tryLock()))).as("another thread").isFalse();
        assertThat(get(fork(() -> lock.tryLock(20, TimeUnit.MILLISECONDS)))).isFalse();
        assertThatThrownBy(() -> get(fork(() -> {
                    lock.unlock();
                    return null;
                })))
                .hasCauseInstanceOf(IllegalMonitorStateException.class);
        lock.unlock();
        lock.unlock();
        assertThat(theirs.tryLock()).as("one unlock is missing").isFalse();
        lock.unlock();

        assertThat(theirs.tryLock(20, TimeUnit.SECONDS)).isTrue();
        theirs.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void theReentrantViewTellsAtUnlockThatTheLeaseWasLost() throws Exception {
        StoreTap tap = tap().on(Operation.RENEW, StoreTap.FAIL);
        Holdfast client = client(tap);
        Lock lock = client.lock(name(), shortLived()).asReentrantLock();
        lock.lock();
        client().lock(name(), longLived()).acquire().release();

        assertThatThrownBy(lock::lock).as("again, on a lost lease").isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);

        tap.heal();
        Lock again = client.lock(name(), longLived()).asReentrantLock();
        again.lock();
        again.unlock();
    }
}
