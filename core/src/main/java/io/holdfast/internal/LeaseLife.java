package io.holdfast.internal;

import io.holdfast.LeaseLostException;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.Loss;
import io.holdfast.LossReason;
import io.holdfast.ReleaseResult;
import io.holdfast.Renewal;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.TimeSource;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The life of one lease, from its grant until it is released or lost. {@link LeaseState} says who ends it.
 *
 * <p>Thread-safe. {@link #isValid} also looks at the clock: after a pause of this process the deadline has passed although
 * nobody had time to declare the lease lost. For the same reason {@link #release} lets a passed deadline win.
 */
final class LeaseLife {

    private final Client client;
    private final Holding holding;
    private final Acquisition acquisition;
    private final LockOptions options;
    private final String name;
    private final long token;
    private final long grantedNanos;
    private final LeaseState state = new LeaseState();
    private final LossNotice notice = new LossNotice();
    /** Whether the user got it: until then there is nothing that its shortest hold could protect. */
    private volatile boolean delivered;
    /** Told by the garbage collector if the user's handle vanished without a release. */
    private @Nullable WeakReference<HeldLease> handle;

    LeaseLife(Client client, Holding holding, Acquisition acquisition, long nowNanos) {
        this.client = client;
        this.holding = holding;
        this.acquisition = acquisition;
        this.options = acquisition.terms().options();
        this.name = holding.grant().request().name();
        this.token = holding.token();
        this.grantedNanos = nowNanos;
        holding.usedBy(this);
    }

    HeldLease newHandle() {
        HeldLease lease = new HeldLease(this);
        if (options.renewal() == Renewal.AUTO) {
            // A fixed lease may well be left to run out; one that is renewed for ever must not be forgotten.
            handle = client.leaks().watch(lease, this);
        }
        return lease;
    }

    void delivered() {
        delivered = true;
    }

    /** Gives back what never reached the user. */
    void discard() {
        delivered = false;
        release();
    }

    String name() {
        return name;
    }

    long token() {
        return token;
    }

    LeaseState.State state() {
        return state.get();
    }

    boolean isHeld() {
        return state.isHeld();
    }

    boolean belongsTo(Client other) {
        return client == other;
    }

    Holding holding() {
        return holding;
    }

    Acquisition acquisition() {
        return acquisition;
    }

    /** When this lease ends by itself: with the store's grant, or at its longest hold. */
    long endNanos() {
        long storeEnd = holding.storeEndNanos();
        if (options.maxHold().isEmpty()) {
            return storeEnd;
        }
        long longest = longestEnd();
        return longest - storeEnd < 0 ? longest : storeEnd;
    }

    boolean isValid() {
        return isHeld() && !hasEnded(time().nanoTime());
    }

    void requireValid() {
        if (!isValid()) {
            String why = notice.loss()
                    .map(Loss::detail)
                    .orElse(isHeld() ? "it was not renewed in time" : "it has been released");
            throw new LeaseLostException(name, token, why);
        }
    }

    Duration remaining() {
        long now = time().nanoTime();
        return isHeld() && !hasEnded(now) ? Duration.ofNanos(endNanos() - now) : Duration.ZERO;
    }

    /** Whether its end has passed; never false again once it was true. */
    private boolean hasEnded(long nowNanos) {
        return holding.hasRunOut(nowNanos) || hasReachedLongestHold(nowNanos);
    }

    private boolean hasReachedLongestHold(long nowNanos) {
        return options.maxHold().isPresent() && longestEnd() - nowNanos <= 0;
    }

    void extend(Duration atLeast) {
        requireValid();
        Duration longest = client.store().traits().maxTtl();
        if (atLeast.compareTo(longest) > 0) {
            throw new UnsupportedLockException(
                    name,
                    "the store keeps a lease for at most " + DurationText.of(longest) + " at a time, not for "
                            + DurationText.of(atLeast));
        }
        holding.extend(client.validity().ttlFor(atLeast));
        requireValid(); // somebody may have seen it end before the answer came
    }

    void onLost(Consumer<Loss> callback) {
        notice.add(callback, client::tellLoss);
    }

    ReleaseResult release() {
        long now = time().nanoTime();
        if (isHeld() && hasEnded(now)) {
            expire();
        }
        if (!state.beginRelease()) {
            return state.result();
        }
        forgetHandle();
        ReleaseResult result = handOn(now) ? ReleaseResult.RELEASED : giveBack(now);
        client.events().publish(() -> new LockEvent.Released(name, token, result, held()));
        return result;
    }

    /** Ends it if its deadline has passed: the store may pass the lock on any moment. */
    void expire() {
        long now = time().nanoTime();
        if (!holding.isGone() && !hasEnded(now)) {
            return; // extended just now, or the deadline was that of an earlier lease on the same grant
        }
        if (hasReachedLongestHold(now)) {
            lose(LossReason.MAX_HOLD, "it was held for the longest time its options allow");
        } else {
            lose(LossReason.EXPIRED, "it was not renewed in time");
        }
    }

    /** False if it had ended before. */
    boolean lose(LossReason reason, String detail) {
        if (!state.lose()) {
            return false;
        }
        afterLoss(reason, detail);
        return true;
    }

    private void afterLoss(LossReason reason, String detail) {
        forgetHandle();
        announce(reason, detail);
        if (reason == LossReason.GONE || reason == LossReason.FORCED) {
            client.keeper().drop(holding);
        } else {
            holding.endInBackground(linger());
        }
        acquisition.leaveGate();
    }

    /**
     * Lets another lease go on with the grant. {@code successor} makes it; if it fails before the store was changed,
     * this lease is held as before.
     */
    HeldLease succeedBy(Supplier<HeldLease> successor) {
        if (!state.beginRelease()) {
            throw new LeaseLostException(name, token, "it has been released");
        }
        try {
            HeldLease lease = successor.get();
            state.finishRelease(ReleaseResult.RELEASED);
            forgetHandle();
            return lease;
        } catch (StoreUnavailableException | UnsupportedLockException notApplied) {
            state.cancelRelease();
            if (holding.isGone()) {
                lose(LossReason.GONE, "the store no longer knows it");
            } else if (!isValid()) {
                expire();
            }
            throw notApplied;
        } catch (RuntimeException | Error e) {
            // It may be another kind of hold by now, or none: this lease can no longer vouch for it. It is lost before
            // anything is undone, for from then on others may have the lock.
            state.finishRelease(ReleaseResult.ALREADY_LOST);
            client.errands().undo(holding.grant().request());
            afterLoss(LossReason.GONE, "it could not be turned into another lease: " + e.getMessage());
            throw e;
        }
    }

    private boolean handOn(long now) {
        if (!options.minHold().isZero() || !holding.mayBeHandedOn(now)) {
            return false;
        }
        // The holding is another's as soon as it is handed over, so this lease lets go of it before.
        holding.usedBy(null);
        if (!acquisition.handOver(holding)) {
            return false;
        }
        state.finishRelease(ReleaseResult.RELEASED);
        return true;
    }

    private ReleaseResult giveBack(long now) {
        try {
            ReleaseResult result = holding.end(linger(), now);
            state.finishRelease(result);
            if (result == ReleaseResult.ALREADY_LOST) {
                announce(LossReason.GONE, "the store no longer knew it when it was released");
            }
            return result;
        } finally {
            acquisition.leaveGate();
        }
    }

    /** How long the lock must stay taken from now on to have been held for its shortest time. */
    private Duration linger() {
        if (!delivered || options.minHold().isZero()) {
            return Duration.ZERO;
        }
        Duration left = options.minHold().minus(held());
        return left.isNegative() ? Duration.ZERO : left;
    }

    private Duration held() {
        return Duration.ofNanos(time().nanoTime() - grantedNanos);
    }

    private void announce(LossReason reason, String detail) {
        Loss loss = new Loss(name, token, reason, detail);
        notice.announce(loss, client::tellLoss);
        client.events().publish(() -> new LockEvent.Lost(name, token, loss));
    }

    private long longestEnd() {
        return grantedNanos + Deadline.nanosOf(options.maxHold().orElseThrow());
    }

    private void forgetHandle() {
        WeakReference<HeldLease> watched = handle;
        if (watched != null) {
            watched.clear();
        }
    }

    private TimeSource time() {
        return client.time();
    }
}
