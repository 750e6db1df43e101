package io.holdfast.torture.worker;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.Renewal;
import io.holdfast.torture.history.RecordedAcquisition;
import io.holdfast.torture.history.Recorder;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** One client and what waits through it. Thread-safe. */
final class Session implements AutoCloseable {

    private final WorkerSettings settings;
    private final Recorder recorder;
    private final Holdfast client;
    private final Set<RecordedAcquisition> waiting = ConcurrentHashMap.newKeySet();

    Session(WorkerSettings settings, Recorder recorder, Holdfast client) {
        this.settings = settings;
        this.recorder = recorder;
        this.client = client;
    }

    /** A way into the lock of a workload. */
    Acquirable<Lease> lock(Workload workload, Demand demand, Renewal renewal) {
        String name = settings.lock(workload);
        LockOptions options = LockOptions.defaults().withTtl(settings.ttl()).withRenewal(renewal);
        if (demand instanceof Demand.Permits permits) {
            return client.semaphore(name, permits.total(), options).permits(permits.count());
        }
        if (workload == Workload.SHARED) {
            return demand instanceof Demand.Shared
                    ? client.readWriteLock(name, options).readLock()
                    : client.readWriteLock(name, options).writeLock();
        }
        return client.lock(name, options);
    }

    RecordedAcquisition asking(Workload workload, Demand demand) {
        RecordedAcquisition acquisition = recorder.asking(settings.lock(workload), demand);
        waiting.add(acquisition);
        return acquisition;
    }

    void answered(RecordedAcquisition acquisition) {
        waiting.remove(acquisition);
    }

    @Override
    public void close() {
        waiting.forEach(acquisition -> acquisition.givingUp("close"));
        client.close();
    }
}
