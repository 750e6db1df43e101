package io.holdfast.redis;

import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * When a waiting ticket asks whether the holder, and those ahead of it in the queue, are still there: at the earliest moment at which
 * one of them may be gone, as the server last told it. Attached to the ticket. Thread-safe.
 *
 * <p>Answers may overtake each other and messages: a newer answer moves the time either way; what may be older than something
 * we know only makes it earlier.
 */
final class HolderCheck {

    private record Planned(long atNanos, StoreContext.Alarm alarm) {}

    private final StoreContext context;
    private final Runnable check;
    private boolean cancelled;
    private boolean skipped;
    private @Nullable Planned planned;
    private @Nullable Long knownSinceNanos;
    private volatile @Nullable Withdrawal withdrawal;

    /** @param check returns at once */
    HolderCheck(StoreContext context, Runnable check) {
        this.context = context;
        this.check = check;
    }

    static Optional<HolderCheck> of(Ticket ticket) {
        return ticket.handle(HolderCheck.class);
    }

    /** Checks then, and not when it was said before, unless we know something from after the request was sent. */
    synchronized void planAsAnswered(long sentNanos, long atNanos) {
        boolean mayBeOlder = knownSinceNanos != null && knownSinceNanos - sentNanos > 0;
        if (!mayBeOlder) {
            knownSinceNanos = sentNanos;
        }
        if (!(mayBeOlder && isPlannedBefore(atNanos))) {
            plan(atNanos);
        }
    }

    /** Checks then at the latest: a message may be older than an answer we have, so it does not put a check off. */
    synchronized void planAsTold(long heardNanos, long atNanos) {
        knownSinceNanos = heardNanos;
        if (!isPlannedBefore(atNanos)) {
            plan(atNanos);
        }
    }

    /** It was due, but an older ticket of this client checks the same lock: one of a client is enough. */
    synchronized void skip() {
        skipped = true;
    }

    /** The older ticket waits no longer: makes the check it stood in for, if there was one. */
    void checkIfSkipped() {
        boolean isDue;
        synchronized (this) {
            isDue = skipped && !cancelled;
            skipped = false;
        }
        if (isDue) {
            check.run();
        }
    }

    /** For good: the ticket waits no longer. */
    synchronized void cancel() {
        cancelled = true;
        clear();
    }

    /** The ticket was withdrawn together with another, before its own turn. */
    void withdrawn(Withdrawal answer) {
        withdrawal = answer;
    }

    /** What came of that, if it was. */
    Optional<Withdrawal> withdrawal() {
        return Optional.ofNullable(withdrawal);
    }

    private boolean isPlannedBefore(long nanos) {
        return planned != null && planned.atNanos - nanos < 0;
    }

    private void plan(long atNanos) {
        if (!cancelled) {
            clear();
            skipped = false;
            planned = new Planned(atNanos, context.timer().at(atNanos, () -> goOff(atNanos)));
        }
    }

    private void clear() {
        if (planned != null) {
            planned.alarm.cancel();
            planned = null;
        }
    }

    private void goOff(long atNanos) {
        forgetPlan(atNanos);
        check.run();
    }

    private synchronized void forgetPlan(long atNanos) {
        if (planned != null && planned.atNanos == atNanos) {
            planned = null;
        }
    }
}
