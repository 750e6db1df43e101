package io.holdfast.torture.mutant;

import static org.awaitility.Awaitility.await;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.Renewal;
import io.holdfast.spi.TimeSource;
import io.holdfast.torture.history.Guard;
import io.holdfast.torture.history.HistoryWriter;
import io.holdfast.torture.history.RecordedAcquisition;
import io.holdfast.torture.history.RecordedLease;
import io.holdfast.torture.history.Recorder;
import io.holdfast.torture.mutant.Wire.Message;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** A client with its own wire and its own history, standing for a process. */
final class Actor implements AutoCloseable {

    private final String name;
    private final HistoryWriter history;
    private final Recorder recorder;
    private final Wire wire = new Wire();
    private final Holdfast client;
    private final Resource resource;

    Actor(String name, Path directory, FlawedStore store, Resource resource, TimeSource time) {
        this.name = name;
        this.resource = resource;
        this.history = HistoryWriter.create(directory.resolve(name + ".jsonl"));
        this.recorder = new Recorder(name, history);
        this.client = Holdfast.builder()
                .store(recorder.tap(store.over(wire)))
                .name(name)
                .time(time)
                .closeTimeout(Duration.ofMillis(200))
                .connect();
    }

    Wire wire() {
        return wire;
    }

    /** A lease that is not renewed. */
    static LockOptions fixed(Duration ttl) {
        return LockOptions.defaults().withTtl(ttl).withRenewal(Renewal.NONE);
    }

    static LockOptions renewed(Duration ttl) {
        return LockOptions.defaults().withTtl(ttl);
    }

    RecordedLease acquire(LockOptions options) throws Exception {
        return acquire(Demand.exclusive(), options);
    }

    RecordedLease acquire(Demand demand, LockOptions options) throws Exception {
        return recorder.asking(Stage.LOCK, demand)
                .call(() -> Optional.of(lock(demand, options).acquire()))
                .orElseThrow();
    }

    /** Waits in the background; returns once the store has answered its request, be it with a place in line. */
    Waiting wait(LockOptions options) {
        return wait(Demand.exclusive(), options);
    }

    Waiting wait(Demand demand, LockOptions options) {
        int asked = wire.answered(Message.ASK);
        Waiting waiting = ask(demand, options);
        await().until(() -> wire.answered(Message.ASK) > asked);
        return waiting;
    }

    /** Asks in the background. */
    Waiting ask(Demand demand, LockOptions options) {
        RecordedAcquisition acquisition = recorder.asking(Stage.LOCK, demand);
        CompletableFuture<Lease> lease = lock(demand, options).acquireAsync();
        CompletableFuture<RecordedLease> recorded = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                recorded.complete(
                        acquisition.call(() -> Optional.of(lease.get())).orElseThrow());
            } catch (Exception e) {
                recorded.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return new Waiting(acquisition, lease, recorded);
    }

    Optional<String> read(RecordedLease lease) throws Exception {
        return lease.read(Guard.CHECKED, () -> resource.read(lease.token()));
    }

    boolean write(RecordedLease lease, String previous) throws Exception {
        String value = "written by " + name;
        return lease.write(Guard.CHECKED, value, previous, () -> resource.write(lease.token(), value));
    }

    private Acquirable<Lease> lock(Demand demand, LockOptions options) {
        if (demand instanceof Demand.Permits permits) {
            return client.semaphore(Stage.LOCK, permits.total(), options).permits(permits.count());
        }
        return demand instanceof Demand.Shared
                ? client.readWriteLock(Stage.LOCK, options).readLock()
                : client.lock(Stage.LOCK, options);
    }

    @Override
    public void close() {
        client.close();
        history.close();
    }

    /** An acquisition under way. */
    record Waiting(
            RecordedAcquisition acquisition,
            CompletableFuture<Lease> lease,
            CompletableFuture<RecordedLease> recorded) {

        RecordedLease get() {
            return recorded.orTimeout(60, TimeUnit.SECONDS).join();
        }

        /** The lease if it comes within that time. */
        Optional<RecordedLease> getWithin(Duration time) {
            try {
                return Optional.of(recorded.copy()
                        .orTimeout(time.toMillis(), TimeUnit.MILLISECONDS)
                        .join());
            } catch (CompletionException e) {
                return Optional.empty();
            }
        }

        void giveUp() {
            acquisition.givingUp("cancel");
            lease.cancel(true);
            recorded.exceptionally(e -> null).join();
        }
    }
}
