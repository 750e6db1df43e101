package io.holdfast.internal.acquire;

import io.holdfast.LockView;
import io.holdfast.internal.ticket.Cleanup;
import io.holdfast.spi.Deadline;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** Warns, naming the holder, when a wait grows very long. Thread-safe. */
public final class LongWaits {

    private static final Logger LOG = System.getLogger(LongWaits.class.getName());

    private final String clientName;
    private final Duration tooLong;
    private final Cleanup lookUps;

    public LongWaits(String clientName, Duration tooLong, Cleanup lookUps) {
        this.clientName = clientName;
        this.tooLong = tooLong;
        this.lookUps = lookUps;
    }

    long tooLongNanos() {
        return Deadline.nanosOf(tooLong);
    }

    void warn(String lockName, Duration waited) {
        lookUps.lookUp(
                lockName,
                view -> LOG.log(
                        Level.WARNING,
                        "A thread of client {0} has waited {1} s for lock ''{2}'', held by {3}",
                        clientName,
                        Long.toString(waited.toSeconds()),
                        lockName,
                        namesOf(view.holders())));
    }

    private static String namesOf(List<LockView.Holder> holders) {
        return holders.isEmpty()
                ? "nobody at this moment"
                : holders.stream()
                        .map(holder ->
                                holder.origin().map(LockView.Origin::toString).orElse("somebody else's client"))
                        .collect(Collectors.joining(", "));
    }
}
