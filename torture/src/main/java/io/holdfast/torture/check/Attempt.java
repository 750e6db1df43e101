package io.holdfast.torture.check;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One acquisition as its program saw it, from the call of acquire to the end of the lease. Grows while a history is read. */
final class Attempt {

    private final Event invoke;
    private @Nullable Event outcome;
    private @Nullable Event lastValid;
    private @Nullable Event lost;
    private @Nullable Event releaseInvoke;
    private @Nullable Event releaseOutcome;
    private @Nullable Claim claim;
    private long believedUntilNanos = Long.MIN_VALUE;

    Attempt(Event invoke) {
        this.invoke = invoke;
    }

    void add(Event event) {
        switch (event.operation()) {
            case ACQUIRE -> outcome = event;
            case VALID -> validSaid(event);
            case LOST -> lost = event;
            case RELEASE -> {
                if (event.phase() == Phase.INVOKE) {
                    releaseInvoke = event;
                } else {
                    releaseOutcome = event;
                }
            }
            default -> {}
        }
    }

    private void validSaid(Event event) {
        lastValid = event;
        Long until = event.untilNanos();
        if (until != null) {
            believedUntilNanos = Math.max(believedUntilNanos, until);
        }
    }

    /** The store's side of it, once it was granted. */
    void belongsTo(@Nullable Claim granted) {
        claim = granted;
    }

    Event invoke() {
        return invoke;
    }

    @Nullable
    Event outcome() {
        return outcome;
    }

    boolean isGranted() {
        return outcome != null && outcome.is(Operation.ACQUIRE, Phase.OK);
    }

    Demand demand() {
        Demand demand = invoke.demand();
        return demand == null ? Demand.exclusive() : demand;
    }

    long token() {
        Long token = outcome == null ? null : outcome.token();
        return token == null ? 0 : token;
    }

    @Nullable
    Event lost() {
        return lost;
    }

    @Nullable
    Event releaseOutcome() {
        return releaseOutcome;
    }

    /** The tenure of an acquisition that was granted. */
    Tenure tenure() {
        long ok = Objects.requireNonNull(outcome, "outcome").nanos();
        return new Tenure(
                demand(),
                token(),
                invoke.nanos(),
                ok,
                endNanos(),
                beliefNanos(),
                Stream.of(invoke, outcome, lastValid, lost, releaseInvoke, releaseOutcome)
                        .filter(Objects::nonNull)
                        .toList());
    }

    /** Until when the store must have kept it; without word from the store, it owes nothing. */
    long deadlineNanos() {
        return claim == null ? Long.MIN_VALUE : claim.deadlineNanos();
    }

    /** When the program was told that the store no longer knew the lease, although nobody had asked for its end. */
    long goneNanos() {
        if (lost != null) {
            return LossReason.GONE.name().equals(lost.detail()) ? lost.nanos() : Long.MAX_VALUE;
        }
        return wasToldAtRelease() ? Objects.requireNonNull(releaseOutcome).nanos() : Long.MAX_VALUE;
    }

    private boolean wasToldAtRelease() {
        return releaseOutcome != null && releaseOutcome.phase() == Phase.TOLD_LOST;
    }

    /** The earliest moment at which the store may have let somebody else in. */
    private long endNanos() {
        if (releaseInvoke == null) {
            return expiryNanos();
        }
        if (wasToldAtRelease()) {
            return expiryNanos();
        }
        boolean released = releaseOutcome != null && releaseOutcome.phase() == Phase.OK;
        return released ? releaseInvoke.nanos() : Math.min(releaseInvoke.nanos(), expiryNanos());
    }

    private long expiryNanos() {
        // The client may have known of another end than its deadline a little before it could tell: what it said last
        // counts.
        if (endedOtherwise()) {
            return Math.min(deadlineNanos(), lastValidNanos());
        }
        // A lease that ended at its own deadline is given back, whatever a late answer says of it.
        return lost != null && claim != null ? claim.timelyDeadlineNanos() : deadlineNanos();
    }

    private long beliefNanos() {
        long end = endedOtherwise() ? Math.min(believedUntilNanos, lastValidNanos()) : believedUntilNanos;
        if (releaseInvoke != null) {
            end = Math.min(end, releaseInvoke.nanos());
        }
        return lost == null ? end : Math.min(end, lost.nanos());
    }

    /** By other means than a release or its own deadline. */
    private boolean endedOtherwise() {
        return lost != null ? !LossReason.EXPIRED.name().equals(lost.detail()) : wasToldAtRelease();
    }

    private long lastValidNanos() {
        return lastValid == null ? Long.MIN_VALUE : lastValid.nanos();
    }
}
