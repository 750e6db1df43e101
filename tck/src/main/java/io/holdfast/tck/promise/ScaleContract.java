package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Threads and requests do not grow with locks, leases and waiters. */
@DisplayName("Scale")
public abstract class ScaleContract extends StoreContract {

    /** More than the pools of two clients, which grow with the processors; fewer than there are leases or waiters. */
    private static final int FEW = Math.min(250, 20 + 10 * Runtime.getRuntime().availableProcessors());

    @Test
    void leasesAndWaitersAddNoThreads() throws Exception {
        Holdfast client = client();
        Holdfast waiting = client();
        List<Lease> leases = new ArrayList<>();
        List<CompletableFuture<Lease>> waiters = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            holdAndWait(client, waiting, "warm-" + i, leases, waiters);
        }
        int before = threads();

        for (int i = 0; i < 300; i++) {
            holdAndWait(client, waiting, "lock-" + i, leases, waiters);
        }
        for (int i = 0; i < 700; i++) {
            leases.add(client.lock(name("alone-" + i), longLived()).tryAcquire().orElseThrow());
        }

        assertThat(threads() - before)
                .as("threads added by 1,000 leases and 300 waiters")
                .isLessThan(FEW);
        waiters.forEach(waiter -> waiter.cancel(true));
        leases.forEach(Lease::release);
        assertThat(threads() - before).isLessThan(FEW);
    }

    private void holdAndWait(
            Holdfast client,
            Holdfast waiting,
            String suffix,
            List<Lease> leases,
            List<CompletableFuture<Lease>> waiters) {
        leases.add(client.lock(name(suffix), longLived()).tryAcquire().orElseThrow());
        waiters.add(waiting.lock(name(suffix), longLived()).acquireAsync());
    }

    private static int threads() {
        return Thread.getAllStackTraces().size();
    }

    @Test
    void manyLeasesAreRenewedInFewRequestsAndNoneIsLost() {
        StoreTap tap = tap();
        Holdfast client = client(tap);
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            DistributedLock lock = client.lock(name("lock-" + i), renewed());
            leases.add(lock.tryAcquire().orElseThrow());
        }
        AtomicInteger requests = new AtomicInteger();
        AtomicInteger renewals = new AtomicInteger();
        tap.on(Operation.RENEW, call -> {
            requests.incrementAndGet();
            renewals.addAndGet(call.tickets().size());
            return call.proceed();
        });

        soon().until(() -> renewals.get() >= 4 * leases.size());

        assertThat(leases).allMatch(Lease::isValid);
        // Those due at about the same time go together: some ten batches per server and period.
        assertThat(requests.get()).isLessThan(renewals.get() / 2);
        leases.forEach(Lease::release);
    }
}
