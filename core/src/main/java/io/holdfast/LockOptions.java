package io.holdfast;

import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a lock is held and waited for. Immutable; each {@code with…} returns a changed copy.
 *
 * <p>Essential: {@link #withTtl ttl}. Often wanted: {@link #withRenewal renewal}, {@link #withFairness fairness}. Rarely:
 * {@link #withWaiting waiting}, {@link #withMinHold minHold}, {@link #withMaxHold maxHold}.
 */
public final class LockOptions {

    private static final LockOptions DEFAULTS =
            new LockOptions(Duration.ofSeconds(30), Renewal.AUTO, null, Fairness.BALANCED, Duration.ZERO, null);

    private final Duration ttl;
    private final Renewal renewal;
    private final @Nullable Waiting waiting;
    private final Fairness fairness;
    private final Duration minHold;
    private final @Nullable Duration maxHold;

    private LockOptions(
            Duration ttl,
            Renewal renewal,
            @Nullable Waiting waiting,
            Fairness fairness,
            Duration minHold,
            @Nullable Duration maxHold) {
        this.ttl = ttl;
        this.renewal = renewal;
        this.waiting = waiting;
        this.fairness = fairness;
        this.minHold = minHold;
        this.maxHold = maxHold;
    }

    /** 30 s, renewed until released, waiting as the store does best, {@link Fairness#BALANCED}. */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /** How long the store keeps the lock for a holder it no longer hears from. Longer than any pause you expect. */
    public LockOptions withTtl(Duration newTtl) {
        return new LockOptions(positive(newTtl, "ttl"), renewal, waiting, fairness, minHold, maxHold);
    }

    public LockOptions withRenewal(Renewal newRenewal) {
        return new LockOptions(ttl, Objects.requireNonNull(newRenewal, "renewal"), waiting, fairness, minHold, maxHold);
    }

    /** Queued or polling; unset, the store's own way: a queue where it has one. */
    public LockOptions withWaiting(Waiting newWaiting) {
        return new LockOptions(ttl, renewal, Objects.requireNonNull(newWaiting, "waiting"), fairness, minHold, maxHold);
    }

    public LockOptions withFairness(Fairness newFairness) {
        return new LockOptions(
                ttl, renewal, waiting, Objects.requireNonNull(newFairness, "fairness"), minHold, maxHold);
    }

    /**
     * The lock stays taken at least this long after it was granted, even if it is released sooner: a job that ends
     * early must not run again on a host whose clock is behind. May be longer than the ttl: only a job that has ended lingers, one
     * whose process dies is over after its ttl.
     */
    public LockOptions withMinHold(Duration newMinHold) {
        return new LockOptions(ttl, renewal, waiting, fairness, positive(newMinHold, "minHold"), maxHold);
    }

    /** The lease is given up, and its holder told, once it was held this long. */
    public LockOptions withMaxHold(Duration newMaxHold) {
        return new LockOptions(ttl, renewal, waiting, fairness, minHold, positive(newMaxHold, "maxHold"));
    }

    public Duration ttl() {
        return ttl;
    }

    public Renewal renewal() {
        return renewal;
    }

    /** Empty means: as the store does best. */
    public Optional<Waiting> waiting() {
        return Optional.ofNullable(waiting);
    }

    public Fairness fairness() {
        return fairness;
    }

    public Duration minHold() {
        return minHold;
    }

    public Optional<Duration> maxHold() {
        return Optional.ofNullable(maxHold);
    }

    private static Duration positive(Duration duration, String what) {
        Objects.requireNonNull(duration, what);
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(what + " must be positive, not " + DurationText.of(duration));
        }
        return duration;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LockOptions that
                && ttl.equals(that.ttl)
                && renewal == that.renewal
                && Objects.equals(waiting, that.waiting)
                && fairness == that.fairness
                && minHold.equals(that.minHold)
                && Objects.equals(maxHold, that.maxHold);
    }

    @Override
    public int hashCode() {
        return Objects.hash(ttl, renewal, waiting, fairness, minHold, maxHold);
    }

    @Override
    public String toString() {
        return "LockOptions[ttl=" + ttl + ", renewal=" + renewal + ", waiting="
                + (waiting == null ? "store's" : waiting)
                + ", fairness=" + fairness + ", minHold=" + minHold + ", maxHold="
                + (maxHold == null ? "none" : maxHold)
                + "]";
    }
}
