package io.holdfast.internal;

import io.holdfast.LeaseLostException;
import io.holdfast.LockEvent;
import io.holdfast.LockOptions;
import io.holdfast.Loss;
import io.holdfast.LossReason;
import io.holdfast.ReleaseResult;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.spi.TimeSource;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * The life of one lease.
 *
 *            release()                     store: released
 *   HELD ──────────────► RELEASING ──────────────────────► RELEASED
 *    │                      │  │    store: did not answer
 *    │ deadline, store says │  └─────────────────────────► PENDING
 *    │ gone, maxHold, close │  store: was not held
 *    └──────────────► LOST ◄┘
 *
 * Whoever makes the transition out of HELD, and nobody else, gives back what the lease had: the grant at the store and
 * the place inside the gate. So both happen once, whether release(), the deadline and the keeper's news race or not.
 *
 * isValid() also looks at the clock: after a pause of this process the deadline has passed although nobody had time to
 * make the transition. For the same reason release() lets the deadline win if it has passed.
 */
final class LeaseLife {

    enum State {
        HELD,
        RELEASING,
        RELEASED,
        PENDING,
        LOST
    }

    private final Client client;
    private final Holding holding;
    private final Acquisition acquisition;
    private final LockOptions options;
    private final String name;
    private final long token;
    private final long grantedNanos;
    private final AtomicReference<State> state = new AtomicReference<>(State.HELD);
    private final Queue<Consumer<Loss>> lostCallbacks = new ConcurrentLinkedQueue<>();
    private volatile @Nullable Loss loss;
    /** Told by the garbage collector if the user's handle vanished without a release. */
    private @Nullable WeakReference<HeldLease> handle;

    LeaseLife(Client client, Holding holding, Acquisition acquisition, LockOptions options) {
        this.client = client;
        this.holding = holding;
        this.acquisition = acquisition;
        this.options = options;
        this.name = holding.grant().request().name();
        this.token = holding.token();
        this.grantedNanos = client.time().nanoTime();
        holding.usedBy(this);
    }

    HeldLease newHandle() {
        HeldLease lease = new HeldLease(this);
        handle = client.leaks().watch(lease, this);
        return lease;
    }

    String name() {
        return name;
    }

    long token() {
        return token;
    }

    State state() {
        return state.get();
    }

    boolean isHeld() {
        return state.get() == State.HELD;
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
        return isHeld() && endNanos() - time().nanoTime() > 0;
    }

    void requireValid() {
        if (!isValid()) {
            Loss known = loss;
            String why = known != null
                    ? known.detail()
                    : switch (state.get()) {
                        case HELD -> "it was not renewed in time";
                        case LOST -> "it ended early";
                        case RELEASING, RELEASED, PENDING -> "it has been released";
                    };
            throw new LeaseLostException(name, token, why);
        }
    }

    Duration remaining() {
        return isHeld() ? Duration.ofNanos(Math.max(0, endNanos() - time().nanoTime())) : Duration.ZERO;
    }

    void extend(Duration atLeast) {
        requireValid();
        holding.extend(atLeast);
    }

    void onLost(Consumer<Loss> callback) {
        lostCallbacks.add(callback);
        Loss known = loss;
        if (known != null) {
            tell(known);
        }
    }

    ReleaseResult release() {
        if (isHeld() && endNanos() - time().nanoTime() <= 0) {
            expire();
        }
        if (!state.compareAndSet(State.HELD, State.RELEASING)) {
            return switch (state.get()) {
                case LOST -> ReleaseResult.ALREADY_LOST;
                case RELEASED -> ReleaseResult.RELEASED;
                case HELD, RELEASING, PENDING -> ReleaseResult.PENDING;
            };
        }
        forgetHandle();
        ReleaseResult result = handOn() ? ReleaseResult.RELEASED : giveBack();
        client.events().publish(() -> new LockEvent.Released(name, token, result, held()));
        return result;
    }

    /** The deadline has passed: the store may pass the lock on any moment. */
    void expire() {
        boolean longestHold = options.maxHold().isPresent() && longestEnd() - time().nanoTime() <= 0;
        if (longestHold) {
            lose(LossReason.MAX_HOLD, "it was held for the longest time its options allow");
        } else {
            lose(LossReason.EXPIRED, "it was not renewed in time");
        }
    }

    void lose(LossReason reason, String detail) {
        if (!state.compareAndSet(State.HELD, State.LOST)) {
            return;
        }
        forgetHandle();
        client.keeper().drop(holding);
        announce(reason, detail);
        if (reason != LossReason.GONE && reason != LossReason.FORCED) {
            client.errands().release(holding.grant(), reason == LossReason.CLOSED ? linger() : Duration.ZERO);
        }
        acquisition.leaveGate();
    }

    /**
     * Lets another lease go on with the grant. {@code successor} makes it; if it fails before the store was changed,
     * this lease is held as before.
     */
    HeldLease succeedBy(Supplier<HeldLease> successor) {
        if (!state.compareAndSet(State.HELD, State.RELEASING)) {
            throw new LeaseLostException(name, token, "it has been released");
        }
        try {
            HeldLease lease = successor.get();
            state.set(State.RELEASED);
            forgetHandle();
            return lease;
        } catch (UnknownOutcomeException | LeaseLostException e) {
            // It may be another kind of hold by now, or none: this lease can no longer vouch for it.
            state.set(State.HELD);
            client.errands().undo(holding.grant().request());
            lose(LossReason.GONE, "it could not be turned into another lease: " + e.getMessage());
            throw e;
        } catch (RuntimeException e) {
            state.set(State.HELD);
            if (!isValid()) {
                expire();
            }
            throw e;
        }
    }

    private boolean handOn() {
        long now = time().nanoTime();
        if (!options.minHold().isZero() || !holding.mayBeHandedOn(now)) {
            return false;
        }
        // The holding is another's as soon as it is handed over, so this lease lets go of it before.
        holding.usedBy(null);
        if (!acquisition.handOver(holding, now)) {
            return false;
        }
        state.set(State.RELEASED);
        return true;
    }

    private ReleaseResult giveBack() {
        ReleaseResult result = holding.end(linger());
        switch (result) {
            case RELEASED -> state.set(State.RELEASED);
            case PENDING -> state.set(State.PENDING);
            case ALREADY_LOST -> {
                state.set(State.LOST);
                announce(LossReason.GONE, "the store no longer knew it when it was released");
            }
        }
        acquisition.leaveGate();
        return result;
    }

    /** How long the lock must stay taken from now on to have been held for its shortest time. */
    private Duration linger() {
        if (options.minHold().isZero()) {
            return Duration.ZERO;
        }
        Duration left = options.minHold().minus(held());
        return left.isNegative() ? Duration.ZERO : left;
    }

    private Duration held() {
        return Duration.ofNanos(time().nanoTime() - grantedNanos);
    }

    private void announce(LossReason reason, String detail) {
        Loss known = new Loss(name, token, reason, detail);
        loss = known;
        tell(known);
        client.events().publish(() -> new LockEvent.Lost(name, token, known));
    }

    /** Each callback is taken from the queue once, whoever comes first. */
    private void tell(Loss known) {
        Consumer<Loss> callback;
        while ((callback = lostCallbacks.poll()) != null) {
            client.callBack(callback, known);
        }
    }

    private long longestEnd() {
        return grantedNanos + options.maxHold().orElseThrow().toNanos();
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
