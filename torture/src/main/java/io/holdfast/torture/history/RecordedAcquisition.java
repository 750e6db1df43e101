package io.holdfast.torture.history;

import io.holdfast.ClientClosedException;
import io.holdfast.Lease;
import io.holdfast.StoreUnavailableException;
import java.util.Optional;
import java.util.concurrent.CancellationException;

/** One call of acquire on its way into the history. {@link #givingUp} may be called by another thread. */
public final class RecordedAcquisition {

    /** A way to acquire: waiting, trying, with or without a time limit, over a future. */
    @FunctionalInterface
    public interface Call {

        /** The lease; empty if the lock stayed taken. */
        Optional<Lease> acquire() throws Exception;
    }

    private final Recorder recorder;
    private final String id;
    private final String lock;

    RecordedAcquisition(Recorder recorder, String id, String lock) {
        this.recorder = recorder;
        this.id = id;
        this.lock = lock;
    }

    /** Makes the call and writes down how it ended; what it throws is passed on. */
    public Optional<RecordedLease> call(Call call) throws Exception {
        Optional<Lease> lease;
        try {
            lease = call.acquire();
        } catch (InterruptedException | CancellationException | ClientClosedException | StoreUnavailableException e) {
            recorder.write(outcome(Phase.FAIL).detail(e.toString()));
            throw e;
        } catch (Exception | Error e) {
            recorder.write(outcome(Phase.UNKNOWN).detail(e.toString()));
            throw e;
        }
        if (lease.isEmpty()) {
            recorder.write(outcome(Phase.FAIL).detail("it stayed taken"));
            return Optional.empty();
        }
        recorder.write(outcome(Phase.OK).token(lease.get().token()));
        RecordedLease recorded = new RecordedLease(recorder, this, lease.get());
        recorded.checkValid();
        return Optional.of(recorded);
    }

    /** To be called just before the acquisition is cancelled, interrupted or its client closed. */
    public void givingUp(String how) {
        recorder.write(event(System.nanoTime(), Operation.CANCEL, Phase.INVOKE).detail(how));
    }

    private Event.Builder outcome(Phase phase) {
        return event(System.nanoTime(), Operation.ACQUIRE, phase);
    }

    Event.Builder event(long nanos, Operation operation, Phase phase) {
        return recorder.event(nanos, operation, phase).lock(lock).acquisition(id);
    }
}
