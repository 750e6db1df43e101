package io.holdfast.torture.history;

import io.holdfast.Demand;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreUri;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Writes down what one process does with its locks.
 *
 * <pre>{@code
 * Recorder recorder = new Recorder("worker-3.1", history);
 * Holdfast client = Holdfast.builder().store(recorder.tap(uri)).connect();
 * DistributedLock lock = client.lock("orders");
 *
 * RecordedAcquisition acquisition = recorder.asking("orders", Demand.exclusive());
 * RecordedLease lease = acquisition.call(() -> Optional.of(lock.acquire())).orElseThrow();
 * lease.checkValid();
 * lease.release();
 * }</pre>
 *
 * <p>One recorder per client. Thread-safe.
 */
public final class Recorder {

    private final String process;
    private final HistoryWriter history;
    private final AtomicLong acquisitions = new AtomicLong();

    /** @param process unique in the run: a worker that is started again gets a new name */
    public Recorder(String process, HistoryWriter history) {
        this.process = process;
        this.history = history;
    }

    /** The store of that URI, whose answers are written down on their way to the client. */
    public StoreFactory tap(String uri) {
        StoreUri parsed = StoreUri.parse(uri);
        return ServiceLoader.load(StoreProvider.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(provider -> provider.schemes().contains(parsed.scheme()))
                .findFirst()
                .map(provider -> tap(provider.store(parsed)))
                .orElseThrow(() -> new IllegalArgumentException("no store on the class path serves " + parsed));
    }

    /** That store, whose answers are written down on their way to the client. */
    public StoreFactory tap(StoreFactory store) {
        return new StoreTap(this, store);
    }

    /** The next acquisition of a lock, to be called at once: its place in time is now. */
    public RecordedAcquisition asking(String lock, Demand demand) {
        RecordedAcquisition acquisition =
                new RecordedAcquisition(this, process + "#" + acquisitions.incrementAndGet(), lock);
        write(acquisition
                .event(System.nanoTime(), Operation.ACQUIRE, Phase.INVOKE)
                .demand(demand));
        return acquisition;
    }

    Event.Builder event(long nanos, Operation operation, Phase phase) {
        return Event.at(nanos, process, operation, phase);
    }

    /** Also for events of which the recorder knows nothing. */
    public void write(Event.Builder event) {
        history.write(event.build());
    }
}
