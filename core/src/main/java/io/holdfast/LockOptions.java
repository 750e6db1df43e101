package io.holdfast;

import io.holdfast.spi.DurationText;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * How a lock is held and waited for. Immutable; each {@code with…} returns a changed copy.
 *
 * <p>Essential: {@link #withTtl ttl}. Often wanted: {@link #withRenewal renewal}, {@link #withFairness fairness}. Rarely:
 * {@link #withWaiting waiting}, {@link #withMinHold minHold}, {@link #withMaxHold maxHold}, {@link #withNote note}.
 */
public final class LockOptions {

    /** Notes are kept at the store beside every ticket. */
    private static final int LONGEST_NOTE_BYTES = 64;

    private static final LockOptions DEFAULTS = new LockOptions(
            Duration.ofSeconds(30), Renewal.AUTO, null, Fairness.BALANCED, Duration.ZERO, null, Optional.empty());

    private final Duration ttl;
    private final Renewal renewal;
    private final @Nullable Waiting waiting;
    private final Fairness fairness;
    private final Duration minHold;
    private final @Nullable Duration maxHold;
    private final Optional<String> note;

    private LockOptions(
            Duration ttl,
            Renewal renewal,
            @Nullable Waiting waiting,
            Fairness fairness,
            Duration minHold,
            @Nullable Duration maxHold,
            Optional<String> note) {
        this.ttl = ttl;
        this.renewal = renewal;
        this.waiting = waiting;
        this.fairness = fairness;
        this.minHold = minHold;
        this.maxHold = maxHold;
        this.note = note;
    }

    /** 30 s, renewed until released, waiting as the store does best, {@link Fairness#BALANCED}. */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /** How long the store keeps the lock for a holder it no longer hears from. Longer than any pause you expect. */
    public LockOptions withTtl(Duration newTtl) {
        return new LockOptions(positive(newTtl, "ttl"), renewal, waiting, fairness, minHold, maxHold, note);
    }

    public LockOptions withRenewal(Renewal newRenewal) {
        return new LockOptions(
                ttl, Objects.requireNonNull(newRenewal, "renewal"), waiting, fairness, minHold, maxHold, note);
    }

    /** Queued or polling; unset, the store's own way: a queue where it has one. */
    public LockOptions withWaiting(Waiting newWaiting) {
        return new LockOptions(
                ttl, renewal, Objects.requireNonNull(newWaiting, "waiting"), fairness, minHold, maxHold, note);
    }

    public LockOptions withFairness(Fairness newFairness) {
        return new LockOptions(
                ttl, renewal, waiting, Objects.requireNonNull(newFairness, "fairness"), minHold, maxHold, note);
    }

    /**
     * The lock stays taken at least this long after it was granted, even if it is released sooner: a job that ends
     * early must not run again on a host whose clock is behind. May be longer than the ttl: only a job that has ended lingers, one
     * whose process dies is over after its ttl.
     */
    public LockOptions withMinHold(Duration newMinHold) {
        return new LockOptions(ttl, renewal, waiting, fairness, positive(newMinHold, "minHold"), maxHold, note);
    }

    /** The lease is given up, and its holder told, once it was held this long. */
    public LockOptions withMaxHold(Duration newMaxHold) {
        return new LockOptions(ttl, renewal, waiting, fairness, minHold, positive(newMaxHold, "maxHold"), note);
    }

    /**
     * Names the unit of work that the lock is for, say a request or an order: for people who look who holds it, and to find
     * deadlocks. Locks acquired with the same note through one client count as held by one unit of work, whatever thread or
     * future they were acquired by; without a note those acquired by one thread do, and those of futures are not known. At most 64
     * bytes of UTF-8.
     */
    public LockOptions withNote(String newNote) {
        if (newNote.isBlank() || newNote.getBytes(StandardCharsets.UTF_8).length > LONGEST_NOTE_BYTES) {
            throw new IllegalArgumentException(
                    "a note has 1 to " + LONGEST_NOTE_BYTES + " bytes, not '" + newNote + "'");
        }
        return new LockOptions(ttl, renewal, waiting, fairness, minHold, maxHold, Optional.of(newNote));
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

    public Optional<String> note() {
        return note;
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
                && Objects.equals(maxHold, that.maxHold)
                && note.equals(that.note);
    }

    @Override
    public int hashCode() {
        return Objects.hash(ttl, renewal, waiting, fairness, minHold, maxHold, note);
    }

    @Override
    public String toString() {
        return "LockOptions[ttl=" + ttl + ", renewal=" + renewal + ", waiting="
                + (waiting == null ? "store's" : waiting)
                + ", fairness=" + fairness + ", minHold=" + minHold + ", maxHold="
                + (maxHold == null ? "none" : maxHold)
                + note.map(text -> ", note=" + text).orElse("")
                + "]";
    }
}
