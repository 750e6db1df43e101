package io.holdfast.internal.acquire;

import io.holdfast.ClientClosedException;
import io.holdfast.LockEvent.Outcome;
import io.holdfast.LockException;
import io.holdfast.LockView.Origin;
import io.holdfast.LockView.Waiter;
import io.holdfast.Renewal;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.ticket.Cleanup.Certainty;
import io.holdfast.internal.ticket.KeptTicket;
import io.holdfast.internal.ticket.TicketUser;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.HintingStore;
import io.holdfast.spi.LockObserver.Way;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.Ticket;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/*
 * One attempt of one caller to get a lease, from the gate to the grant.
 *
 *   AT_GATE ──► ASKING ──► granted
 *                │  ▲
 *                ▼  │
 *         QUEUED or PAUSED
 *
 * The same code serves threads that block and futures that do not: advance() goes as far as it can without waiting and
 * says when to come back at the latest; the driver (SyncDriver, AsyncDriver) parks or sets an alarm until then or until
 * wake() is called. Requests to the store run inside advance(), so on the thread that drives it. Only one thread drives
 * an acquisition at a time; what other threads have to say (the gate's call, the ticket's grant or end, a hint) they leave where
 * advance() finds it, then wake.
 *
 * Every request takes a new ticket. A driver that gives up (timeout, interrupt, cancel, close) calls abandon(): it ends the ticket, which
 * the clean-up then removes from the store, so a caller's deadline is kept even if the store is slow. A grant that arrives
 * afterwards finds the ticket ended and goes straight back. The next acquisition of the lock queues only when the clean-up has tried
 * once (Withdrawals): else threads that wait less than a round trip would queue tickets faster than these are removed, each
 * behind all those given up before it, and none would ever be granted.
 *
 * Trouble. A request that fails on the first try throws. Once the caller has waited, a store that is
 * away for a moment must not end the wait: it asks again until the outage has lasted a ttl, by
 * which time nothing of the wait is left at the store anyway. And a request cut short by the caller's own deadline, after a wait
 * that others caused or with little time from the start, says nothing about the store: it ends like any other wait in vain,
 * unless requests for this lock have failed before it and none has succeeded since.
 */

/** An acquisition under way. Over when its lease is there, or there will be none. */
final class Acquisition implements TicketUser {

    private static final Logger LOG = System.getLogger(Acquisition.class.getName());

    /** A driver that counts in milliseconds gives up this much before the deadline. */
    private static final long CUT_SHORT_NANOS = Duration.ofMillis(2).toNanos();

    /** A request that was given less time than this and ran out of it may have met nothing but a busy machine. */
    private static final long LITTLE_TIME_NANOS = Duration.ofMillis(100).toNanos();

    private enum Stage {
        AT_GATE,
        ASKING,
        QUEUED,
        PAUSED,
        OVER
    }

    private final Acquisitions shared;
    private final LockTerms terms;
    private final Patience patience;
    private final Deadline deadline;
    private final long startedNanos;
    private final Caller caller;
    private final GateStay stay;
    private final Telemetry.Story story;

    private Stage stage = Stage.AT_GATE;
    private @Nullable KeptTicket kept;
    private @Nullable Retries retries; // made when needed: what is free is had with one request
    private @Nullable CompletableFuture<Void> withdrawals; // that the next request waits for
    private @Nullable LockException trouble; // why the store could not be asked last time
    private boolean hasWaited;
    private boolean longWaitSaid;
    private @Nullable HeldLease lease;

    Acquisition(Acquisitions shared, LockTerms terms, Patience patience, Caller caller) {
        this.shared = shared;
        this.terms = terms;
        this.patience = patience;
        this.deadline = patience.deadline();
        this.startedNanos = shared.time.nanoTime();
        this.caller = caller;
        this.stay = new GateStay(terms, caller, shared.held);
        this.story = shared.telemetry.begin(terms.name(), terms.demand());
    }

    // What the driver calls.

    /** Tells that it begins. Once, before anything else: every beginning that is told has an end that is. */
    void begin() {
        story.started();
    }

    /**
     * Goes as far as it can without waiting; true when it is over. Throws if it failed; then nothing is left of it. Closing waits
     * for it: a grant must not slip between the answer and its lease.
     */
    boolean advance() {
        shared.lifecycle.begin();
        try {
            boolean over = step();
            if (!over && !hasWaited) {
                hasWaited = true;
                shared.startWaiting(this);
                warnOfWaitForItself();
                if (!shared.lifecycle.isOpen()) {
                    over = step();
                }
            }
            if (over) {
                stopWaiting();
            }
            return over;
        } catch (RuntimeException | Error e) {
            abandon(shared.lifecycle.isOpen() ? Outcome.FAILED : Outcome.CLOSED, String.valueOf(e.getMessage()));
            releaseUntaken();
            stopWaiting();
            throw e;
        } finally {
            shared.lifecycle.finish();
        }
    }

    /** It failed after the grant: the caller will never see the lease. */
    private void releaseUntaken() {
        HeldLease untaken = takeLease();
        if (untaken != null) {
            untaken.life().releaseUndelivered();
        }
    }

    /** The lease once it is over, or null if it ended without one. Given away: only the user may refer to it. */
    @Nullable
    HeldLease takeLease() {
        HeldLease taken = lease;
        lease = null;
        return taken;
    }

    /** When to advance again unless it is woken before. */
    long wakeAtNanos() {
        long at = deadline.atNanos();
        if (stage == Stage.PAUSED && retries().endNanos() - at < 0) {
            at = retries().endNanos();
        }
        long longWait = longWaitNanos();
        return !longWaitSaid && longWait - at < 0 ? longWait : at;
    }

    /** Gives up: leaves the gate and the queue; nothing is held. */
    void abandon(Outcome outcome, String detail) {
        if (stage == Stage.OVER) {
            return;
        }
        stage = Stage.OVER;
        withdrawTicket(Certainty.CONFIRMED);
        stay.withdraw();
        giveBackInherited();
        stay.leave();
        stopWaiting();
        story.unsuccessful(outcome, detail, startedNanos);
    }

    LockTerms terms() {
        return terms;
    }

    /** As others would see it in a queue, though it may wait inside this client. */
    Waiter asWaiter() {
        return new Waiter(Optional.of(origin()), terms.demand(), Optional.empty());
    }

    private Origin origin() {
        return shared.tickets.origin(caller.threadName(), terms.options().note(), shared.held.namesOf(stay.unit()));
    }

    // What the ticket calls while this waits for it.

    @Override
    public void changed() {
        caller.wake();
    }

    @Override
    public boolean close() {
        caller.wake();
        return true;
    }

    private boolean step() {
        if (stage != Stage.OVER) {
            shared.lifecycle.requireOpen(terms.name());
            warnOfLongWait();
        }
        while (true) {
            switch (stage) {
                case AT_GATE -> {
                    if (!passGate()) {
                        return stage == Stage.OVER;
                    }
                }
                case ASKING -> {
                    if (!takeOverInherited() && !(hasWaited && giveUpIfLate())) {
                        if (mode() == Mode.QUEUE && waitsForWithdrawals()) {
                            return false;
                        }
                        ask();
                    }
                }
                case QUEUED -> {
                    if (!hear()) {
                        return stage == Stage.OVER;
                    }
                }
                case PAUSED -> {
                    if (giveUpIfLate()) {
                        return true;
                    }
                    if (!retries().isPauseOver()) {
                        return false;
                    }
                    stage = Stage.ASKING;
                }
                case OVER -> {
                    return true;
                }
            }
        }
    }

    /** Whether it is through the gate. */
    private boolean passGate() {
        if (stay.begin(patience, startedNanos)) {
            stage = Stage.ASKING;
            return true;
        }
        if (patience.isForOneTry()) {
            abandon(Outcome.TAKEN, "another thread of this client has it or waits for it");
            return false;
        }
        giveUpIfLate();
        return false;
    }

    /** Only for those that were under way when it came: those that give up behind it must not keep it waiting. */
    private boolean waitsForWithdrawals() {
        CompletableFuture<Void> earlier = withdrawals;
        if (earlier == null) {
            earlier = terms.site().withdrawals.underWay();
            withdrawals = earlier;
            if (!earlier.isDone()) {
                earlier.thenRun(caller::wake);
            }
        }
        return !earlier.isDone();
    }

    private void ask() {
        withdrawals = null;
        listenForHints();
        Origin origin = origin();
        long askedNanos = now();
        KeptTicket asking =
                shared.tickets.open(terms.name(), terms.demand(), terms.options(), origin, this, askedNanos);
        kept = asking;
        Optional<Refusal> refusal;
        try {
            refusal = shared.requests.request(asking, mode(), deadline, askedNanos);
        } catch (RuntimeException | Error e) {
            if (rulesOutThatItWasDone(e)) {
                endTicket();
            } else {
                withdrawTicket(Certainty.MAYBE_UNDER_WAY);
            }
            if (!isOutage(e)) {
                throw e;
            }
            rideOut((LockException) e, askedNanos);
            return;
        }
        trouble = null;
        terms.site().outage.end();
        settle(asking, refusal, askedNanos);
    }

    private static boolean rulesOutThatItWasDone(Throwable failure) {
        return failure instanceof StoreUnavailableException
                || failure instanceof UnsupportedLockException
                || failure instanceof ClientClosedException;
    }

    private static boolean isOutage(Throwable failure) {
        return failure instanceof StoreUnavailableException || failure instanceof UnknownOutcomeException;
    }

    private Mode mode() {
        return patience.isForOneTry() || terms.poll() != null ? Mode.TRY : Mode.QUEUE;
    }

    private void settle(KeptTicket asked, Optional<Refusal> refusal, long askedNanos) {
        if (refusal.isPresent()) {
            endTicket();
            pause(refusal.get());
            return;
        }
        // A session store may grant with the session's base; a lease without renewal must have its whole ttl.
        boolean owedMore = terms.options().renewal() == Renewal.NONE && asked.wasExtendedBefore(askedNanos);
        if (asked.ticket().state() == Ticket.State.HELD && !owedMore) {
            complete(asked);
        } else {
            asked.keep();
            stage = Stage.QUEUED;
        }
    }

    /** Looks what has become of the ticket. Whether there is something to do at once. */
    private boolean hear() {
        KeptTicket queued = Objects.requireNonNull(kept);
        switch (queued.ticket().state()) {
            case HELD -> {
                confirm(queued);
                return true;
            }
            case ENDED -> {
                boolean grantedTooLate = queued.wasGrantedTooLate();
                withdrawTicket(Certainty.CONFIRMED);
                if (grantedTooLate) {
                    terms.site().outage.end(); // it is slow, but there
                    rideOut(
                            new StoreUnavailableException(terms.name(), "its answer took longer than the ttl"),
                            startedNanos);
                } else {
                    pauseAfterLoss();
                }
                return true;
            }
            default -> {
                giveUpIfLate();
                return false;
            }
        }
    }

    /** A pushed grant may have been long on its way. One that has little time left, or is not renewed, is renewed once first. */
    private void confirm(KeptTicket granted) {
        if (deadline.hasPassed()) {
            giveUpIfLate();
            return;
        }
        long arrivedNanos = now();
        if (terms.options().renewal() == Renewal.AUTO && granted.isSurelyValid(arrivedNanos)) {
            granted.startUse(arrivedNanos);
            complete(granted);
            return;
        }
        try {
            granted.renewNow(shared.requests, deadline);
        } catch (RuntimeException | Error e) {
            withdrawTicket(Certainty.CONFIRMED);
            if (!isOutage(e)) {
                throw e;
            }
            rideOut((LockException) e, arrivedNanos);
            return;
        }
        if (granted.ticket().isValid()) {
            granted.startUse(now());
            complete(granted);
        } else {
            withdrawTicket(Certainty.CONFIRMED);
            stage = Stage.ASKING;
        }
    }

    private void complete(KeptTicket granted) {
        story.acquired(Way.GRANTED, granted.usersToken(), startedNanos);
        openLease(granted, granted.grantedNanos());
    }

    /** Until the lease is there the ticket is this acquisition's to give back, should anything go wrong. */
    private void openLease(KeptTicket ticket, long nowNanos) {
        // Before the lease is there, which may end at once.
        shared.held.add(stay);
        lease = shared.leases.open(ticket, stay, terms.options(), caller.threadName(), story, nowNanos);
        kept = null;
        stage = Stage.OVER;
    }

    /** Whether what another thread left at the gate is this one's lease now. */
    private boolean takeOverInherited() {
        KeptTicket inherited = stay.takeInherited();
        if (inherited == null) {
            return false;
        }
        long now = now();
        if (!stay.accepts(inherited) || !inherited.isSurelyValid(now)) {
            // Not on this thread: the caller's deadline is for its own request.
            inherited.endInBackground(Duration.ZERO);
            return false;
        }
        kept = inherited;
        inherited.handOn(caller.threadName(), terms.options().note());
        story.acquired(Way.HANDED_OVER, inherited.usersToken(), startedNanos);
        openLease(inherited, now);
        return true;
    }

    private void giveBackInherited() {
        KeptTicket inherited = stay.takeInherited();
        if (inherited != null) {
            inherited.endInBackground(Duration.ZERO);
        }
    }

    private void pause(Refusal refusal) {
        if (patience.isForOneTry()) {
            abandon(Outcome.TAKEN, refusal.reason());
            return;
        }
        if (!retries().countRefusal() && patience.limit() != Patience.Limit.NONE) {
            abandon(Outcome.TAKEN, "taken at every try: " + refusal.reason());
            return;
        }
        retries().pauseAfter(refusal);
        stage = Stage.PAUSED;
    }

    private void pauseAfterLoss() {
        retries().pauseAfterLoss();
        stage = Stage.PAUSED;
    }

    private Retries retries() {
        Retries known = retries;
        if (known == null) {
            known = new Retries(terms, shared.requests.traits().poll(), shared.time);
            retries = known;
        }
        return known;
    }

    private void listenForHints() {
        if (!patience.isForOneTry() && shared.requests.store() instanceof HintingStore hinting) {
            retries().listen(hinting, caller::wake);
        }
        if (retries != null) {
            retries.forgetHints();
        }
    }

    /** The store is away: after a wait it goes on waiting for a while, on the first try it throws. */
    private void rideOut(LockException failure, long askedNanos) {
        long now = now();
        boolean late = deadline.atNanos() - now <= CUT_SHORT_NANOS;
        boolean hadLittleTime = deadline.atNanos() - askedNanos < LITTLE_TIME_NANOS;
        long ttlNanos = terms.options().ttl().toNanos();
        Outage outage = terms.site().outage;
        boolean wasAway = outage.isOn(askedNanos, ttlNanos) || isInTrouble();
        if (late && !wasAway && (hadLittleTime || hasWaitedForOthers())) {
            abandon(Outcome.TIMED_OUT, "the lock stayed taken");
            return;
        }
        trouble = failure;
        long lasted = outage.lastsNanos(askedNanos, now, ttlNanos);
        if (!hasWaited || lasted > ttlNanos || late) {
            throw failure;
        }
        retries().pauseForOutage();
        stage = Stage.PAUSED;
    }

    /** Whether the store could not be asked last time, and has answered no request of this client for this lock since. */
    private boolean isInTrouble() {
        return trouble != null && !terms.site().outage.hasEnded();
    }

    private boolean hasWaitedForOthers() {
        return hasWaited || (retries != null && retries.wasRefused());
    }

    /** Ends the wait at its deadline: without a lease, or with the trouble that kept it from one. */
    private boolean giveUpIfLate() {
        if (!deadline.hasPassed()) {
            return false;
        }
        if (isInTrouble()) {
            throw Objects.requireNonNull(trouble);
        }
        abandon(Outcome.TIMED_OUT, "the lock stayed taken");
        return true;
    }

    /** Nothing of it is at the store. */
    private void endTicket() {
        KeptTicket left = kept;
        kept = null;
        if (left != null) {
            left.end();
        }
    }

    private void withdrawTicket(Certainty certainty) {
        KeptTicket left = kept;
        kept = null;
        if (left != null) {
            CompletableFuture<Void> tried = left.withdrawInBackground(certainty);
            if (mode() == Mode.QUEUE) {
                terms.site().withdrawals.add(tried, shared.timer, now());
            }
        }
    }

    /** What has to be undone however the acquisition ends. */
    private void stopWaiting() {
        if (hasWaited) {
            shared.stopWaiting(this);
        }
        if (retries != null) {
            retries.stopListening();
        }
    }

    private void warnOfLongWait() {
        if (hasWaited && !longWaitSaid && now() - longWaitNanos() >= 0) {
            longWaitSaid = true;
            shared.longWaits.warn(terms.name(), Duration.ofNanos(waitedNanos()), shared::waitersFor);
        }
    }

    /** Not an error: another thread may release that lease. But most often a re-entrant lock was meant. */
    private void warnOfWaitForItself() {
        if (shared.held.waitsForItself(stay.unit(), terms.name())) {
            LOG.log(
                    Level.WARNING,
                    "Thread {0} waits for lock ''{1}'', which it holds itself: it waits for ever unless another thread"
                            + " releases that lease. Use asReentrantLock() where a thread may lock again",
                    caller.threadName(),
                    terms.name());
        }
    }

    private long longWaitNanos() {
        return startedNanos + shared.longWaits.tooLongNanos();
    }

    private long waitedNanos() {
        return now() - startedNanos;
    }

    private long now() {
        return shared.time.nanoTime();
    }
}
