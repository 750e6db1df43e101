package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.DistributedSemaphore;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockEvent;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Tokens;
import io.holdfast.tck.Mortal;
import io.holdfast.tck.promise.DirectStore.Claim;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Of two grants that exclude each other the later has the larger token. */
@Tag("core")
@DisplayName("P2 fencing")
public abstract class FencingContract extends StoreContract {

    @Test
    void tokensGrowFromGrantToGrantWhoeverGetsThem() throws Exception {
        DistributedLock ours = client().lock(name());
        DistributedLock theirs = client().lock(name());
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            tokens.add(tokenOf(ours));
            tokens.add(tokenOf(theirs));
            tokens.add(tokenOf(theirs));
        }

        assertStrictlyIncreasing(tokens);
    }

    @Test
    void tokensGrowAcrossRestartsOfAllClients() throws Exception {
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            try (Holdfast client = client()) {
                tokens.add(tokenOf(client.lock(name())));
                tokens.add(tokenOf(client.lock(name())));
            }
        }

        assertStrictlyIncreasing(tokens);
    }

    @Test
    void theStoresOwnNumberIsToldBesideTheToken() throws Exception {
        try (Lease lease = client().lock(name()).acquire()) {
            assertThat(lease.storeToken()).isEqualTo(Tokens.ofStore(lease.token()));
            assertThat(new DirectStore(mainTap()).view(name()).holders())
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.token()).hasValue(lease.storeToken()));
        }
    }

    @Test
    void tokensGrowWhenThreadsOfOneClientHandTheLockOn() throws Exception {
        ConcurrentLinkedQueue<LockEvent> events = new ConcurrentLinkedQueue<>();
        DistributedLock lock =
                client(tap(), builder -> builder.listener(events::add)).lock(name());
        List<Long> tokens = new ArrayList<>(); // guarded by the lock itself
        List<Future<Void>> workers = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            workers.add(fork(() -> {
                for (int i = 0; i < 20; i++) {
                    try (Lease lease = lock.acquire()) {
                        tokens.add(lease.token());
                        Thread.yield();
                    }
                }
                return null;
            }));
        }
        for (Future<Void> worker : workers) {
            worker.get();
        }

        assertThat(tokens).hasSize(80);
        assertStrictlyIncreasing(tokens);
    }

    @Test
    void theSuccessorOfADeadHolderHasALargerToken() throws Exception {
        Mortal mortal = mortal();
        Lease dead = client(mortal).lock(name(), shortLived()).acquire();
        mortal.die();

        try (Lease next = client().lock(name(), shortLived()).acquire()) {
            assertThat(next.token()).isGreaterThan(dead.token());
        }
    }

    @Test
    void renewalAndReentryDoNotChangeTheToken() throws Exception {
        ConcurrentLinkedQueue<LockEvent> events = new ConcurrentLinkedQueue<>();
        Holdfast client = client(tap(), builder -> builder.listener(events::add));
        try (Lease lease = client.lock(name(), renewed()).acquire()) {
            long token = lease.token();
            lease.extend(renewedTtl());
            soon().until(() ->
                    events.stream().filter(LockEvent.Renewed.class::isInstance).count() >= 2);
            assertThat(lease.token()).isEqualTo(token);
            assertThat(view(name()).holders())
                    .singleElement()
                    .satisfies(holder -> assertThat(holder.token()).hasValue(token));
        }
        Lock reentrant = client.lock(name("reentrant")).asReentrantLock();
        reentrant.lock();
        Optional<Long> before = view(name("reentrant")).holders().get(0).token();
        assertThat(before).isPresent();
        reentrant.lock();
        assertThat(view(name("reentrant")).holders())
                .singleElement()
                .satisfies(holder -> assertThat(holder.token()).isEqualTo(before));
        reentrant.unlock();
        reentrant.unlock();
    }

    @Test
    void readersHaveTokensOfTheirOwnAllAboveTheLastWritersAndBelowTheNext() throws Exception {
        assumeSupports(Demand.shared());
        DistributedReadWriteLock ours = client().readWriteLock(name());
        DistributedReadWriteLock theirs = client().readWriteLock(name());
        long writer = tokenOf(ours.writeLock());
        List<Lease> readers = List.of(
                ours.readLock().acquire(),
                theirs.readLock().acquire(),
                ours.readLock().acquire());
        List<Long> tokens = readers.stream().map(Lease::token).toList();
        readers.forEach(Lease::release);

        assertThat(tokens)
                .doesNotHaveDuplicates()
                .allSatisfy(token -> assertThat(token).isGreaterThan(writer));
        long next = tokenOf(theirs.writeLock());
        assertThat(tokens).allSatisfy(token -> assertThat(token).isLessThan(next));
    }

    @Test
    void permitHoldersHaveTokensOfTheirOwn() throws Exception {
        assumeSupports(Demand.permits(1, 3));
        DistributedSemaphore ours = client().semaphore(name(), 3);
        DistributedSemaphore theirs = client().semaphore(name(), 3);
        List<Lease> holders = List.of(ours.acquire(), theirs.acquire(), ours.acquire());

        assertThat(holders.stream().map(Lease::token)).doesNotHaveDuplicates();
        holders.forEach(Lease::release);
    }

    @Test
    void aDowngradedLeaseKeepsItsToken() throws Exception {
        assumeSupports(Demand.shared());
        assumeCan(DowngradingStore.class, "turn a write lease into a read lease");
        DistributedReadWriteLock lock = client().readWriteLock(name());
        Lease write = lock.writeLock().acquire();

        try (Lease read = lock.downgrade(write)) {
            assertThat(read.token()).isEqualTo(write.token());
        }
    }

    @Test
    void aForcedReleaseAdvancesTheToken() throws Exception {
        assumeCan(AdministeredStore.class, "release by force");
        Holdfast client = client();
        Lease robbed = client().lock(name()).acquire();

        assertThat(client.administration().forceRelease(name())).isEqualTo(1);

        try (Lease next = client.lock(name()).acquire()) {
            assertThat(next.token()).isGreaterThan(robbed.token());
        }
    }

    @Test
    void aRaisedFloorIsBelowEveryLaterToken() {
        assumeCan(TokenRaisingStore.class, "raise tokens");
        DirectStore direct = direct();
        Claim first = direct.grant(name(), Demand.exclusive(), longTtl());
        direct.release(first);
        long floor = first.storeToken() + 1_000_000;

        ((TokenRaisingStore) direct.store()).raise(name(), floor, direct.deadline());
        Claim second = direct.grant(name(), Demand.exclusive(), longTtl());
        assertThat(second.storeToken()).isGreaterThan(floor);
        direct.release(second);

        ((TokenRaisingStore) direct.store()).raise(name(), 1, direct.deadline());
        Claim third = direct.grant(name(), Demand.exclusive(), longTtl());
        assertThat(third.storeToken()).as("raising never lowers").isGreaterThan(second.storeToken());
        direct.release(third);
    }

    private static long tokenOf(DistributedLock lock) throws InterruptedException {
        try (Lease lease = lock.acquire()) {
            return lease.token();
        }
    }

    private static void assertStrictlyIncreasing(List<Long> tokens) {
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }
}
