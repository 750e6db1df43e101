package io.holdfast.torture.worker;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.Renewal;
import io.holdfast.torture.history.Guard;
import io.holdfast.torture.history.RecordedAcquisition;
import io.holdfast.torture.history.RecordedLease;
import io.holdfast.torture.resource.ResourceClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/** One thread of a worker: acquires, reads, holds, writes, releases, over and over, until it is told to stop. */
final class Contender implements Runnable {

    private static final long LONGEST_HOLD_MILLIS = 2000;
    private static final double SHARE_OF_MISCHIEF = 0.35;
    private static final double SHARE_OF_FIXED_LEASES = 0.1;
    private static final double SHARE_OF_READERS = 0.75;

    private final WorkerSettings settings;
    private final Sessions sessions;
    private final Workload workload;
    private final int number;
    private final ResourceClient resource;
    private final Random random;
    private volatile boolean stopped;
    private int writes;

    Contender(WorkerSettings settings, Sessions sessions, Workload workload, int number, ResourceClient resource) {
        this.settings = settings;
        this.sessions = sessions;
        this.workload = workload;
        this.number = number;
        this.resource = resource;
        this.random = new Random(settings.seed() * 31 + settings.process().hashCode() * 7L + number);
    }

    void stop() {
        stopped = true;
    }

    @Override
    public void run() {
        try {
            while (!stopped) {
                turn();
                TimeUnit.MILLISECONDS.sleep(random.nextInt(40));
            }
        } catch (Exception e) {
            // A worker that breaks is a finding of its own: its process ends with an error and a trace in its log.
            e.printStackTrace();
            Runtime.getRuntime().halt(4);
        }
    }

    private void turn() throws Exception {
        Session session = sessions.current();
        Demand demand = demand();
        say("waits");
        Optional<RecordedLease> lease = Optional.empty();
        try {
            lease = acquire(session, demand);
        } catch (LockException | InterruptedException | CancellationException e) {
            // Trouble is what this is about; the history has it.
            say("idle");
            TimeUnit.MILLISECONDS.sleep(20 + random.nextInt(150));
        }
        if (lease.isPresent()) {
            say("holds");
            try {
                use(lease.get(), demand);
            } finally {
                lease.get().release();
            }
        }
        say("idle");
    }

    private Demand demand() {
        return switch (workload) {
            case EXCLUSIVE -> Demand.exclusive();
            case SHARED -> random.nextDouble() < SHARE_OF_READERS ? Demand.shared() : Demand.exclusive();
            case PERMITS -> Demand.permits(random.nextInt(4) == 0 ? 2 : 1, Workload.PERMITS_IN_ALL);
        };
    }

    private Optional<RecordedLease> acquire(Session session, Demand demand) throws Exception {
        Renewal renewal = random.nextDouble() < SHARE_OF_FIXED_LEASES ? Renewal.NONE : Renewal.AUTO;
        Acquirable<Lease> lock = session.lock(workload, demand, renewal);
        boolean mischief = settings.mischief() && random.nextDouble() < SHARE_OF_MISCHIEF;
        long mischiefMillis = random.nextInt(1200);
        double way = random.nextDouble();
        Duration patience = Duration.ofMillis(random.nextInt(1500));

        RecordedAcquisition acquisition = session.asking(workload, demand);
        try {
            return acquisition.call(() -> {
                if (way < 0.1) {
                    return lock.tryAcquire();
                }
                if (way < 0.25) {
                    return lock.tryAcquire(patience);
                }
                if (way < 0.45) {
                    return acquireAsync(lock, acquisition, mischief, mischiefMillis);
                }
                Thread thread = Thread.currentThread();
                try (Mischief ahead = mischief
                        ? Mischief.after(mischiefMillis, acquisition, "interrupt", thread::interrupt)
                        : Mischief.none()) {
                    return Optional.of(lock.acquire());
                }
            });
        } finally {
            session.answered(acquisition);
            // One that came too late to end the wait.
            Thread.interrupted();
        }
    }

    private static Optional<Lease> acquireAsync(
            Acquirable<Lease> lock, RecordedAcquisition acquisition, boolean mischief, long mischiefMillis)
            throws Exception {
        CompletableFuture<Lease> future = lock.acquireAsync();
        try (Mischief ahead = mischief
                ? Mischief.after(mischiefMillis, acquisition, "cancel", () -> future.cancel(true))
                : Mischief.none()) {
            return Optional.of(future.get());
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    /** Whether the lease is still valid is noted and not acted upon: a program that forgets to look is the point. */
    private void use(RecordedLease lease, Demand demand) throws Exception {
        double part = random.nextDouble();
        long millis = stopped ? 0 : Math.round(LONGEST_HOLD_MILLIS * part * part * part);
        if (workload == Workload.PERMITS) {
            hold(lease, millis);
        } else if (demand instanceof Demand.Shared) {
            read(lease, Guard.CHECKED, true);
            read(lease, Guard.UNCHECKED, true);
            hold(lease, millis);
            read(lease, Guard.CHECKED, true);
        } else {
            Optional<String> checked = read(lease, Guard.CHECKED, false);
            Optional<String> unchecked = read(lease, Guard.UNCHECKED, false);
            hold(lease, millis);
            if (checked.isPresent()) {
                write(lease, Guard.CHECKED, checked.get());
            }
            write(lease, Guard.UNCHECKED, unchecked.orElseThrow());
        }
    }

    private void hold(RecordedLease lease, long millis) throws InterruptedException {
        long sliceMillis = Math.max(1, settings.ttl().toMillis() / 10);
        for (long left = millis; left > 0; left -= sliceMillis) {
            TimeUnit.MILLISECONDS.sleep(Math.min(left, sliceMillis));
            lease.checkValid();
        }
    }

    private Optional<String> read(RecordedLease lease, Guard guard, boolean shared) throws Exception {
        return lease.read(guard, () -> resource.read(guard, settings.lock(workload), lease.token(), shared));
    }

    private void write(RecordedLease lease, Guard guard, String previous) throws Exception {
        String id = settings.process() + "/" + number + "/" + ++writes;
        lease.write(
                guard,
                id,
                previous,
                () -> resource.write(guard, settings.lock(workload), lease.token(), id)
                        .isPresent());
    }

    /** For the nemesis, which looks for holders and waiters. */
    private void say(String state) throws IOException {
        System.out.println(number + " " + state);
    }
}
