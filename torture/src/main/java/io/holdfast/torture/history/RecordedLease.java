package io.holdfast.torture.history;

import io.holdfast.Lease;
import io.holdfast.ReleaseResult;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;

/** A lease whose every use is written down. Thread-safe. */
public final class RecordedLease {

    private final Recorder recorder;
    private final RecordedAcquisition acquisition;
    private final Lease lease;

    RecordedLease(Recorder recorder, RecordedAcquisition acquisition, Lease lease) {
        this.recorder = recorder;
        this.acquisition = acquisition;
        this.lease = lease;
        lease.onLost(loss -> recorder.write(
                event(Operation.LOST, Phase.TOLD_LOST).detail(loss.reason().name())));
    }

    public long token() {
        return lease.token();
    }

    /** Asks the lease whether it is valid. Worth doing several times per ttl: the checker believes only what it saw. */
    public boolean checkValid() {
        // Read before the lease is asked, so that the sum is not later than the end of validity.
        long before = System.nanoTime();
        Duration left = lease.remaining();
        if (left.isZero()) {
            return false;
        }
        recorder.write(acquisition.event(before, Operation.VALID, Phase.OK).until(before + left.toNanos()));
        return true;
    }

    public ReleaseResult release() {
        checkValid();
        recorder.write(event(Operation.RELEASE, Phase.INVOKE));
        ReleaseResult result = lease.release();
        recorder.write(event(
                Operation.RELEASE,
                switch (result) {
                    case RELEASED -> Phase.OK;
                    case ALREADY_LOST -> Phase.TOLD_LOST;
                    case PENDING -> Phase.UNKNOWN;
                }));
        return result;
    }

    /**
     * Reads the guarded resource.
     *
     * @param read gives the id of the last write, empty text if there was none; or nothing if the token was refused
     */
    public Optional<String> read(Guard guard, Callable<Optional<String>> read) throws Exception {
        recorder.write(event(Operation.READ, Phase.INVOKE).guard(guard).token(token()));
        Optional<String> seen =
                outcome(read, event(Operation.READ, Phase.UNKNOWN).guard(guard));
        Event.Builder outcome = event(Operation.READ, seen.isPresent() ? Phase.OK : Phase.FAIL)
                .guard(guard)
                .token(token());
        seen.ifPresent(outcome::value);
        recorder.write(outcome);
        return seen;
    }

    /**
     * Writes to the guarded resource.
     *
     * @param value an id no other write of the run has
     * @param previous what the read before returned
     * @param write says whether it was accepted; false if the token was refused
     */
    public boolean write(Guard guard, String value, String previous, Callable<Boolean> write) throws Exception {
        recorder.write(written(Phase.INVOKE, guard, value, previous));
        boolean accepted = outcome(write, written(Phase.UNKNOWN, guard, value, previous));
        recorder.write(written(accepted ? Phase.OK : Phase.FAIL, guard, value, previous));
        return accepted;
    }

    private <T> T outcome(Callable<T> call, Event.Builder ifItFails) throws Exception {
        try {
            return call.call();
        } catch (Exception e) {
            recorder.write(ifItFails.detail(e.toString()));
            throw e;
        }
    }

    private Event.Builder written(Phase phase, Guard guard, String value, String previous) {
        return event(Operation.WRITE, phase)
                .guard(guard)
                .token(token())
                .value(value)
                .previous(previous);
    }

    private Event.Builder event(Operation operation, Phase phase) {
        return acquisition.event(System.nanoTime(), operation, phase);
    }
}
