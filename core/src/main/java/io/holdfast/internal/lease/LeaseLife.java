package io.holdfast.internal.lease;

import io.holdfast.LeaseLostException;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.Loss;
import io.holdfast.LossReason;
import io.holdfast.ReleaseResult;
import io.holdfast.Renewal;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.ticket.KeptTicket;
import io.holdfast.internal.ticket.StoreRequests;
import io.holdfast.internal.ticket.TicketUser;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/*
 * Local handoff. When a lease is released and the gate has a waiter that wants the same, the store need not hear of it: the
 * ticket stays held and the next lease goes on with it, under the next local number, which makes its token larger. What could
 * go wrong:
 *
 * - The ticket ends while it has no user, between the release of one lease and the start of the next. The next one makes itself
 *   known to the ticket first and looks at its state then, so it sees an end that came before and is told of one that comes after.
 * - The lease before it is told of that end too. The gate makes it let go of the ticket (NOBODY) before it leaves it to the next.
 * - It is left at the gate for ever. The gate gives it to the acquisition that enters next, or to the last waiter if that gives up
 *   instead; both use it or give it back.
 * - Other clients starve. A grant is handed on only so often and for so long (HandoffLimits), then released.
 * - Its time runs out. It is handed on only while it is surely valid: renewals come every third of the ttl, so with less than
 *   half left they are failing.
 * - A successor gets more or less than it asked for. Only leases with the same demand, ttl and renewal and without minHold hand
 *   on to each other, and one that was extended by hand does not.
 */

/**
 * The life of one lease, from its grant until it is released or lost. {@link LeaseState} says who ends it.
 *
 * <p>Thread-safe. {@link #isValid} also looks at the clock: after a pause of this process the deadline has passed although
 * the keeper had no time to declare the lease lost. For the same reason {@link #release} lets a passed deadline win.
 */
public final class LeaseLife implements TicketUser {

    private static final Logger LOG = System.getLogger(LeaseLife.class.getName());

    private final Leases leases;
    private final KeptTicket kept;
    private final Ticket ticket;
    private final InsideGate inside;
    private final LockOptions options;
    private final String thread;
    private final Telemetry.Story story;
    private final long token;
    private final long grantedNanos;
    private final LeaseState state = new LeaseState();
    private final LossNotice notice = new LossNotice();
    /** Whether the user got it: until then there is nothing that its shortest hold could protect. */
    private volatile boolean delivered;
    /** Told by the garbage collector if the user's handle vanished without a release. */
    private @Nullable WeakReference<HeldLease> handle;

    LeaseLife(
            Leases leases,
            KeptTicket kept,
            InsideGate inside,
            LockOptions options,
            String thread,
            Telemetry.Story story,
            long grantedNanos) {
        this.leases = leases;
        this.kept = kept;
        this.ticket = kept.ticket();
        this.inside = inside;
        this.options = options;
        this.thread = thread;
        this.story = story;
        this.token = kept.usersToken();
        this.grantedNanos = grantedNanos;
    }

    HeldLease newHandle() {
        HeldLease lease = new HeldLease(this);
        if (options.renewal() == Renewal.AUTO) {
            // A fixed lease may well be left to run out; one that is renewed for ever must not be forgotten.
            handle = leases.leaks().watch(lease, this);
        }
        return lease;
    }

    void delivered() {
        delivered = true;
    }

    /**
     * Makes itself known to the ticket, then looks whether that has ended before. The ticket is kept first: who hears of its end
     * drops it, and were it kept after that it would be so for ever.
     */
    void beginUse() {
        kept.keep();
        kept.usedBy(this);
        if (options.maxHold().isPresent()) {
            kept.planForUser();
        }
        changed();
        if (isHeld() && ticket.state() == Ticket.State.ENDED) {
            // Closing the client ended it while it lay at the gate and had no lease to tell.
            close();
        }
    }

    public String name() {
        return ticket.name();
    }

    public long token() {
        return token;
    }

    /** Which thread asked for it: after a handoff another than the one the store knows. */
    String thread() {
        return thread;
    }

    long storeToken() {
        return ticket.storeToken();
    }

    LeaseState.State state() {
        return state.get();
    }

    boolean isHeld() {
        return state.isHeld();
    }

    public Ticket ticket() {
        return ticket;
    }

    /** Whether it was acquired through that client. */
    public boolean isOf(StoreRequests client) {
        return leases.requests() == client;
    }

    public boolean isValid() {
        return isHeld() && (options.maxHold().isEmpty() || !isTooLong(now())) && ticket.isValid();
    }

    public void requireValid() {
        if (!isValid()) {
            throw new LeaseLostException(name(), token, whyNotValid());
        }
    }

    private String whyNotValid() {
        return notice.loss().map(Loss::detail).orElseGet(() -> isHeld() ? "its time is over" : "it has been released");
    }

    Duration remaining() {
        return isValid() ? left() : Duration.ZERO;
    }

    Duration extend(Duration atLeast) {
        requireValid();
        Duration longest = leases.requests().traits().maxTtl();
        if (atLeast.compareTo(longest) > 0) {
            throw new UnsupportedLockException(
                    name(),
                    "the store keeps a lease for at most " + DurationText.of(longest) + " at a time, not for "
                            + DurationText.of(atLeast));
        }
        try {
            kept.extend(leases.validity().ttlFor(atLeast), leases.requests());
        } catch (LockException e) {
            throw e.whileHeld(left());
        }
        requireValid();
        return remaining();
    }

    void onLost(Consumer<Loss> callback) {
        notice.add(loss -> leases.callbacks().tellLoss(callback, loss));
    }

    void onLost(Consumer<Loss> callback, Executor executor) {
        notice.add(loss -> leases.callbacks().tellLoss(callback, loss, executor));
    }

    ReleaseResult release() {
        long now = now();
        return beginRelease(now) ? finishRelease(now) : state.result();
    }

    /** Whether it is the caller's to release. A passed deadline wins: then it is lost. */
    private boolean beginRelease(long nowNanos) {
        if (isHeld()) {
            endIfTooLong(nowNanos);
            ticket.endIfExpired(nowNanos);
        }
        return state.beginRelease();
    }

    private ReleaseResult finishRelease(long nowNanos) {
        forgetHandle();
        ReleaseResult result = handOn(nowNanos) ? ReleaseResult.RELEASED : giveBack(linger(nowNanos), nowNanos);
        story.released(token, result, grantedNanos);
        return result;
    }

    public boolean isLost() {
        return state.get() == LeaseState.State.LOST;
    }

    /** Ends the lease here and now; the store is asked on a thread of the client's own. */
    CompletableFuture<ReleaseResult> releaseAsync() {
        if (!beginRelease(now())) {
            return CompletableFuture.completedFuture(state.result());
        }
        CompletableFuture<ReleaseResult> outcome = new CompletableFuture<>();
        leases.requests().beginUnderWay();
        Runnable release = () -> {
            try {
                ReleaseResult result = finishRelease(now());
                leases.callbacks().complete(outcome::complete, result);
            } catch (RuntimeException | Error e) {
                leases.callbacks().complete(outcome::completeExceptionally, e);
            } finally {
                leases.requests().finishUnderWay();
            }
        };
        try {
            leases.tasks().apply(name()).execute(release);
        } catch (RejectedExecutionException closed) {
            release.run();
        }
        return outcome;
    }

    /** Ends a lease that no user got: at once, whatever its shortest hold, since there is nothing that could protect. */
    public ReleaseResult releaseUndelivered() {
        delivered = false;
        return release();
    }

    /** As {@link #releaseUndelivered}, from a thread that must not wait for the store. */
    public void releaseUndeliveredInBackground() {
        delivered = false;
        releaseAsync();
    }

    private boolean handOn(long nowNanos) {
        boolean handedOn =
                options.minHold().isZero() && kept.mayBeHandedOn(leases.handoff(), nowNanos) && inside.handOn(kept);
        if (handedOn) {
            state.finishRelease(ReleaseResult.RELEASED);
        }
        return handedOn;
    }

    /** Closing waits for it: the store must be there, and what is left over must go to the clean-up. */
    private ReleaseResult giveBack(Duration linger, long nowNanos) {
        leases.requests().beginUnderWay();
        try {
            ReleaseResult result =
                    kept.end() == Ticket.State.HELD ? releaseAtStore(linger, nowNanos) : lostBefore(linger);
            state.finishRelease(result);
            if (result == ReleaseResult.ALREADY_LOST) {
                Ticket.Ending ending = ticket.ending()
                        .orElse(new Ticket.Ending(LossReason.GONE, "the store no longer knew it when it was released"));
                announce(ending.reason(), ending.detail(), false);
            }
            return result;
        } finally {
            inside.leave();
            leases.requests().finishUnderWay();
        }
    }

    private ReleaseResult releaseAtStore(Duration linger, long nowNanos) {
        kept.drop();
        try {
            ReleaseAnswer answer = leases.requests().release(ticket, linger, nowNanos);
            return answer == ReleaseAnswer.RELEASED ? ReleaseResult.RELEASED : ReleaseResult.ALREADY_LOST;
        } catch (RuntimeException | Error e) {
            // Also what a store should not throw: whatever happens, the lease ends and the next thread gets its turn.
            kept.endInBackground(linger);
            if (e instanceof Error) {
                throw e;
            }
            LOG.log(Level.DEBUG, () -> "Releasing lock '" + name() + "' failed, trying again: " + e);
            return ReleaseResult.PENDING;
        }
    }

    /** The ticket ended between the look at its deadline and now; the store may still have it. */
    private ReleaseResult lostBefore(Duration linger) {
        kept.endInBackground(linger);
        return ReleaseResult.ALREADY_LOST;
    }

    // As the user of its ticket.

    @Override
    public void changed() {
        if (ticket.state() == Ticket.State.ENDED) {
            ticket.ending().ifPresent(ending -> lose(ending.reason(), ending.detail()));
        }
    }

    @Override
    public long longestNanos(long ticketsEndNanos) {
        if (options.maxHold().isEmpty()) {
            return ticketsEndNanos;
        }
        long longest = grantedNanos + Deadline.nanosOf(options.maxHold().get());
        return longest - ticketsEndNanos < 0 ? longest : ticketsEndNanos;
    }

    @Override
    public void endIfTooLong() {
        endIfTooLong(now());
    }

    private void endIfTooLong(long nowNanos) {
        if (isHeld() && isTooLong(nowNanos)) {
            lose(LossReason.MAX_HOLD, "it was held for the longest time its options allow");
        }
    }

    private boolean isTooLong(long nowNanos) {
        return options.maxHold().isPresent()
                && nowNanos - grantedNanos >= Deadline.nanosOf(options.maxHold().get());
    }

    @Override
    public void kept(Duration validFor) {
        story.renewed(name(), token, validFor);
    }

    @Override
    public void failing(Duration validFor, LockException cause) {
        if (isValid()) {
            story.renewalFailed(name(), token, validFor, cause);
        }
    }

    @Override
    public boolean close() {
        lose(LossReason.CLOSED, "its client was closed");
        return true;
    }

    private void lose(LossReason reason, String detail) {
        if (state.lose()) {
            boolean storeHasIt = reason != LossReason.GONE && reason != LossReason.FORCED;
            afterLoss(reason, detail, storeHasIt ? () -> kept.endInBackground(linger(now())) : kept::drop);
        }
    }

    /*
     * The order matters. The grant goes back after the loss was announced, since the store may then grant the lock to others. A
     * callback may close the client at once, and close() waits for kept tickets and for clean-up: so the ticket stays kept until
     * its clean-up has begun.
     */
    private void afterLoss(LossReason reason, String detail, Runnable giveBack) {
        forgetHandle();
        announce(reason, detail, true);
        giveBack.run();
        inside.leave();
    }

    // Downgrade.

    /** Goes on as a lease of another kind on the same ticket. If that fails before the store was changed, this goes on. */
    public HeldLease downgrade(DowngradingStore store) {
        requireValid();
        if (!state.beginDowngrade()) {
            throw new LeaseLostException(name(), token, whyNotValid());
        }
        try {
            leases.requests().downgrade(ticket, store);
        } catch (StoreUnavailableException e) {
            goOn();
            throw e.whileHeld(left());
        } catch (UnsupportedLockException e) {
            goOn();
            throw e;
        } catch (RuntimeException | Error e) {
            // It may be another kind of hold by now, or none: this lease cannot tell. It is lost before
            // anything is undone, for from then on others may have the lock.
            state.finishRelease(ReleaseResult.ALREADY_LOST);
            afterLoss(
                    LossReason.GONE,
                    "it could not be turned into another lease: " + e.getMessage(),
                    () -> kept.endInBackground(Duration.ZERO));
            throw e;
        }
        if (ticket.state() == Ticket.State.ENDED) {
            goOn();
            throw new LeaseLostException(name(), token, whyNotValid());
        }
        HeldLease successor =
                leases.open(kept, inside.asShared(), options, thread, story.successor(ticket.demand(), token), now());
        story.succeeded();
        state.finishRelease(ReleaseResult.RELEASED);
        forgetHandle();
        return successor.delivered();
    }

    /** The downgrade was not done: held as before, unless it was released or the ticket ended meanwhile. */
    private void goOn() {
        if (state.goOn()) {
            changed();
            endIfTooLong();
        } else {
            finishRelease(now());
        }
    }

    /** How long the lock must stay taken from now on to have been held for its shortest time. */
    private Duration linger(long nowNanos) {
        if (!delivered || options.minHold().isZero()) {
            return Duration.ZERO;
        }
        Duration left = options.minHold().minusNanos(nowNanos - grantedNanos);
        return left.isNegative() ? Duration.ZERO : left;
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(0, longestNanos(ticket.endNanos()) - now()));
    }

    private void announce(LossReason reason, String detail, boolean endedByThis) {
        Loss loss = new Loss(name(), token, reason, detail);
        notice.announce(loss);
        // Not on this thread, which may be the one that watches deadlines: a log may block.
        leases.callbacks().complete(this::log, loss);
        story.lost(loss, grantedNanos, endedByThis);
    }

    private void log(Loss loss) {
        LOG.log(
                loss.reason() == LossReason.CLOSED ? Level.WARNING : Level.ERROR,
                "The lease on lock ''{0}'' with token {1} at {2} is lost: {3}. Its work must stop: others may hold the lock by"
                        + " now; onLost() and isValid() tell it so",
                name(),
                Long.toString(token),
                leases.requests().traits().store(),
                loss.detail());
    }

    private void forgetHandle() {
        WeakReference<HeldLease> watched = handle;
        if (watched != null) {
            watched.clear();
        }
    }

    private long now() {
        return leases.time().nanoTime();
    }
}
