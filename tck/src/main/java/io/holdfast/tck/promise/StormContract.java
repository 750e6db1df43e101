package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Behaviour;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Interrupts, timeouts, cancels and lost requests thrown in at random break no promise and leave nothing. */
@DisplayName("P1 P2 P7 storm")
public abstract class StormContract extends StoreContract {

    private static final Duration LENGTH = Duration.ofSeconds(2);

    /** Fewer leases than this in a storm prove nothing; a slow store gets more time for them. */
    private static final int FEW = 10;

    @Test
    void exclusiveLocksSurviveAStorm() throws Exception {
        storm(List.of(Demand.exclusive()));
    }

    @Test
    void readersAndWritersSurviveAStorm() throws Exception {
        assumeSupports(Demand.shared());
        storm(List.of(Demand.exclusive(), Demand.shared(), Demand.shared()));
    }

    @Test
    void permitTakersSurviveAStorm() throws Exception {
        assumeSupports(Demand.permits(1, 3));
        storm(List.of(Demand.permits(1, 3), Demand.permits(2, 3), Demand.permits(3, 3)));
    }

    private void storm(List<Demand> demands) throws Exception {
        Beliefs beliefs = new Beliefs();
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        long end = System.nanoTime() + LENGTH.toNanos();
        long latest = end + patience().toNanos();
        AtomicBoolean over = new AtomicBoolean();
        List<Worker> workers = new ArrayList<>();
        List<Future<Void>> running = new ArrayList<>();
        List<StoreTap> taps = new ArrayList<>();
        for (int c = 0; c < 3; c++) {
            StoreTap tap = tap();
            Holdfast client = client(tap);
            unreliable(tap, random.split());
            taps.add(tap);
            for (int t = 0; t < 3; t++) {
                Worker worker = new Worker(client, demands, beliefs, random.split(), over);
                workers.add(worker);
                running.add(fork(worker::run));
            }
        }
        while (System.nanoTime() - end < 0 || beliefs.size() <= FEW && System.nanoTime() - latest < 0) {
            StoreTap.pause(Duration.ofMillis(random.nextInt(20)));
            workers.get(random.nextInt(workers.size())).interrupt();
        }
        over.set(true);
        for (Future<Void> worker : running) {
            get(worker);
        }
        taps.forEach(StoreTap::heal);

        beliefs.assertExclusionAndFencing();
        assertThat(beliefs.size()).as("leases had, seed %d", seed).isGreaterThan(FEW);
        awaitFree(name());
        Holdfast fresh = client();
        fresh.lock(name(), longLived()).tryAcquire(patience()).orElseThrow().release();
    }

    private static void unreliable(StoreTap tap, SplittableRandom seeds) {
        for (Operation operation : Operation.values()) {
            SplittableRandom random = seeds.split();
            Behaviour behaviour = call -> {
                int dice;
                synchronized (random) {
                    dice = random.nextInt(60);
                }
                return switch (dice) {
                    case 0 -> StoreTap.LOSE_REPLY.around(call);
                    case 1 -> StoreTap.LOSE_REQUEST.around(call);
                    case 2 -> StoreTap.FAIL.around(call);
                    default -> call.proceed();
                };
            };
            tap.on(operation, behaviour);
        }
    }

    /** Acquires in every way there is, and gives up in every way. */
    private final class Worker {

        private final Holdfast client;
        private final List<Demand> demands;
        private final Beliefs beliefs;
        private final SplittableRandom random;
        private final AtomicBoolean over;
        private volatile boolean interruptible;
        private volatile Thread thread = Thread.currentThread();

        Worker(Holdfast client, List<Demand> demands, Beliefs beliefs, SplittableRandom random, AtomicBoolean over) {
            this.client = client;
            this.demands = demands;
            this.beliefs = beliefs;
            this.random = random;
            this.over = over;
        }

        void interrupt() {
            if (interruptible) {
                thread.interrupt();
            }
        }

        Void run() {
            thread = Thread.currentThread();
            while (!over.get()) {
                Demand demand = demands.get(random.nextInt(demands.size()));
                try {
                    interruptible = true;
                    Optional<Lease> lease = acquire(lock(demand));
                    interruptible = false;
                    lease.ifPresent(held -> {
                        beliefs.hold(demand, held, Thread::yield);
                        held.release();
                    });
                } catch (InterruptedException | LockException expected) {
                    // What the storm is about.
                } finally {
                    interruptible = false;
                    Thread.interrupted();
                }
            }
            return null;
        }

        private Acquirable<Lease> lock(Demand demand) {
            LockOptions options = LockOptions.defaults().withTtl(shortTtl().multipliedBy(3));
            if (demand instanceof Demand.Permits permits) {
                return client.semaphore(name(), permits.total(), options).permits(permits.count());
            }
            return demand instanceof Demand.Shared
                    ? client.readWriteLock(name(), options).readLock()
                    : client.lock(name(), options);
        }

        private Optional<Lease> acquire(Acquirable<Lease> lock) throws InterruptedException {
            return switch (random.nextInt(5)) {
                case 0 -> lock.tryAcquire();
                case 1 -> lock.tryAcquire(Duration.ofNanos(random.nextInt(20_000_000)));
                case 2, 3 -> lock.tryAcquire(Duration.ofMillis(500));
                default -> impatiently(lock.acquireAsync());
            };
        }

        /** Whoever cancels may find that it was too late; then it holds a lease. */
        private Optional<Lease> impatiently(CompletableFuture<Lease> future) throws InterruptedException {
            try {
                return Optional.of(future.get(random.nextInt(50), TimeUnit.MILLISECONDS));
            } catch (ExecutionException e) {
                if (e.getCause() instanceof LockException expected) {
                    throw expected;
                }
                throw new AssertionError(e);
            } catch (TimeoutException | InterruptedException e) {
                if (!future.cancel(true)) {
                    future.thenAccept(Lease::release);
                }
                return Optional.empty();
            }
        }
    }
}
