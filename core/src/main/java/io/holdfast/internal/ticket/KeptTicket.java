package io.holdfast.internal.ticket;

import io.holdfast.LockException;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.Renewal;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.support.Uninterruptibly;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A ticket in this client's hands: who uses it, when it is renewed next, how often it was handed on. Thread-safe.
 *
 * <p>Its user, an acquisition or a lease, is told of its grant, its end and its renewals. A new user first makes itself known ({@link #usedBy}) and then
 * looks at the ticket's state: an end that comes before is seen by that look, one that comes after is told.
 */
public final class KeptTicket implements Ticket.Listener {

    private final Ticket ticket;
    private final TimeSource time;
    private final Keeper keeper;
    private final Cleanup cleanup;
    /** One permit: requests to keep this ticket do not overlap, so each knows which answer is its own. */
    private final Semaphore keeping = new Semaphore(1);

    private volatile boolean answered;
    private volatile TicketUser user;
    private volatile long dueNanos;
    private volatile @Nullable LockException failure;
    private volatile Duration extension =
            Duration.ZERO; // the longest that was asked for; written by one request at a time
    private long grantedNanos; // written by the acquisition that got it, then handed on through the gate
    private volatile int localNumber;
    private volatile String usersThread;
    private volatile Optional<String> usersNote;

    KeptTicket(Tickets tickets, Function<Ticket.Listener, Ticket> made, TicketUser user) {
        this.time = tickets.time();
        this.keeper = tickets.keeper();
        this.cleanup = tickets.cleanup();
        this.user = user;
        this.ticket = made.apply(this);
        this.usersThread = ticket.origin().thread();
        this.usersNote = ticket.origin().note();
        this.dueNanos = nextDueNanos();
    }

    public Ticket ticket() {
        return ticket;
    }

    // Who uses it.

    /** Then look at the ticket's state. */
    public void usedBy(TicketUser newUser) {
        user = newUser;
    }

    /** The time of its user may be over sooner than that of the one before. */
    public void planForUser() {
        keeper.plan(this);
    }

    /** Notes when the store granted it: the limits of handing it on, and the hold times of its first lease, count from then. */
    public void startUse(long nowNanos) {
        grantedNanos = nowNanos;
    }

    /** When its first lease began. */
    public long grantedNanos() {
        return grantedNanos;
    }

    /** Goes on under another lease, with the next local number. Only by the acquisition that found it inside the gate. */
    @SuppressWarnings("NonAtomicOperationOnVolatileField")
    public void handOn(String thread, Optional<String> note) {
        localNumber++;
        usersThread = thread;
        usersNote = note;
    }

    boolean wasHandedOn() {
        return localNumber > 0 && ticket.state() == Ticket.State.HELD;
    }

    /** Who asked for the lease that uses this now, given who asked first. What it holds beside is not known. */
    Origin usersOrigin(Origin first) {
        return new Origin(first.client(), first.host(), first.pid(), usersThread, usersNote, List.of());
    }

    /** The token of the lease that uses this now. */
    public long usersToken() {
        return Tokens.ofUsers(ticket.storeToken(), localNumber);
    }

    /** Whether another thread of this client may go on with it before the store passes it on. */
    public boolean mayBeHandedOn(HandoffLimits limits, long nowNanos) {
        return ticket.renewal() == Renewal.AUTO
                && extension.isZero()
                && localNumber < limits.most()
                && nowNanos - grantedNanos < Deadline.nanosOf(limits.longest())
                && isSurelyValid(nowNanos);
    }

    /**
     * With time to spare: renewals come every third of the ttl, so with less than half of what the margin leaves of it they are
     * failing. Not half of the ttl itself: a store's margin may be that large.
     */
    public boolean isSurelyValid(long nowNanos) {
        long endNanos = ticket.endNanos();
        return ticket.state() == Ticket.State.HELD && endNanos - nowNanos > (endNanos - ticket.baseNanos()) / 2;
    }

    /** Whether it was granted by a request sent before then, so that part of its time has gone. */
    public boolean wasExtendedBefore(long nanos) {
        return ticket.baseNanos() - nanos < 0;
    }

    /** Whether the store granted it when its time was over already. */
    public boolean wasGrantedTooLate() {
        return ticket.storeToken() != Tokens.NONE
                && ticket.ending()
                        .filter(why -> why.reason() == LossReason.EXPIRED)
                        .isPresent();
    }

    // Its keeping.

    /** From now on it is renewed, and ended at its deadline. */
    public void keep() {
        keeper.keep(this);
    }

    /** Asks the store for at least that long from now, on this thread. */
    public void extend(Duration ttl, StoreRequests requests) {
        askNow(requests.deadline(), () -> {
            extension = longer(extension, ttl);
            requests.extend(ticket, ttl);
        });
    }

    /** That the store may give it, for an extension may be made whose answer is missing. */
    private Duration longestTtl() {
        return longer(ticket.givenTtl(), extension);
    }

    private static Duration longer(Duration one, Duration other) {
        return one.compareTo(other) >= 0 ? one : other;
    }

    /** Asks the store to keep it, on this thread. */
    public void renewNow(StoreRequests requests, Deadline callers) {
        askNow(callers, () -> requests.renewNow(ticket, callers));
    }

    /** Throws what the store reported as failing: the caller waits for the answer. */
    private void askNow(Deadline deadline, Runnable request) {
        if (!Uninterruptibly.await(deadline, keeping::tryAcquire)) {
            throw new UnknownOutcomeException(ticket.name(), "an earlier renewal is still under way");
        }
        LockException failed;
        try {
            failure = null;
            request.run();
            failed = failure;
        } finally {
            keeping.release();
        }
        if (failed != null && ticket.state() != Ticket.State.ENDED) {
            throw failed;
        }
    }

    /** Ends it on its owner's behalf; what it has at the store is the caller's to give back. Returns how far it had come. */
    public Ticket.State end() {
        return ticket.end();
    }

    /** No longer renewed. To be called when a release or the clean-up has begun: close() waits for kept tickets and for those. */
    public void drop() {
        keeper.drop(this);
    }

    /** Ends it, and gives back in the background whatever it has at the store. */
    public void endInBackground(Duration linger) {
        ticket.end();
        cleanup.release(ticket, linger, longestTtl());
        drop();
    }

    /** Ends it, and removes in the background what it may have at the store. Completes once that was tried. */
    public CompletableFuture<Void> withdrawInBackground(Cleanup.Certainty certainty) {
        CompletableFuture<Void> tried = ticket.end() == Ticket.State.HELD
                ? cleanup.release(ticket, Duration.ZERO, longestTtl())
                : cleanup.withdraw(ticket, certainty);
        drop();
        return tried;
    }

    void closeWithClient() {
        if (!user.close()) {
            endInBackground(Duration.ZERO);
        }
    }

    // What the ticket tells.

    @Override
    public void granted() {
        answered = true;
        dueNanos = nextDueNanos();
        user.changed();
    }

    @Override
    public void kept() {
        answered = true;
        failure = null;
        dueNanos = nextDueAfterRenewal();
        user.kept(left());
    }

    @Override
    public void failing(LockException cause) {
        answered = true;
        LockException trouble = ticket.state() == Ticket.State.HELD ? cause.whileHeld(left()) : cause;
        failure = trouble;
        dueNanos = time.nanoTime() + slackNanos();
        user.failing(left(), trouble);
    }

    @Override
    public void ended(Ticket.Ending why) {
        answered = true;
        user.changed();
    }

    /** This grant came after the end: it goes back by its token. */
    @Override
    public void unwanted() {
        cleanup.release(ticket, Duration.ZERO, longestTtl());
    }

    // What the keeper asks.

    /** Whether the store could not be asked the last time. */
    boolean isFailing() {
        return failure != null;
    }

    boolean isHeldAndFailing() {
        return isFailing() && ticket.state() == Ticket.State.HELD;
    }

    String failureText() {
        LockException failed = failure;
        return failed == null ? "" : String.valueOf(failed.getMessage());
    }

    /** When to renew next. */
    long dueNanos() {
        return dueNanos;
    }

    /** When it, or its user, ends unless renewed before. */
    long endNanos() {
        return user.longestNanos(ticket.endNanos());
    }

    /** Ends the ticket, or its user, if its time is over. Whether the ticket has ended. */
    boolean endIfOver() {
        if (!ticket.endIfExpired()) {
            user.endIfTooLong();
        }
        return ticket.state() == Ticket.State.ENDED;
    }

    /** How long renewals may be bunched: a tenth of the time between two of them. */
    long slackNanos() {
        return ticket.ttl().toNanos() / 30;
    }

    /** Reserves this for one renewal; false if one is under way. */
    boolean beginRenewal() {
        boolean begun = keeping.tryAcquire();
        if (begun) {
            answered = false;
        }
        return begun;
    }

    /** @param unheard why, if the store said nothing */
    void finishRenewal(Throwable unheard) {
        try {
            if (!answered) {
                ticket.failing(
                        unheard instanceof LockException known
                                ? known
                                : new StoreUnavailableException(ticket.name(), "the renewal failed", unheard));
            }
        } finally {
            keeping.release();
        }
    }

    /** A third of the ttl after the base, less up to a tenth of that, so that leases of one moment spread out. */
    private long nextDueNanos() {
        if (ticket.renewal() == Renewal.NONE && ticket.state() == Ticket.State.HELD) {
            return time.nanoTime() + Deadline.FAR_NANOS;
        }
        long period = ticket.ttl().toNanos() / 3;
        return ticket.baseNanos() + period - (long) (ThreadLocalRandom.current().nextDouble() * period / 10);
    }

    /** If it was extended by hand beyond its ttl, renewals move neither its base nor its end: then counted from now. */
    private long nextDueAfterRenewal() {
        long due = nextDueNanos();
        long now = time.nanoTime();
        boolean hasTime = ticket.endNanos() - now > ticket.ttl().toNanos() * 2 / 3;
        return due - now <= 0 && hasTime ? now + due - ticket.baseNanos() : due;
    }

    /** Of the ttl, between 0 and 1. */
    double shareLeft() {
        long left = Math.max(0, ticket.endNanos() - time.nanoTime());
        return Math.min(1, (double) left / ticket.givenTtl().toNanos());
    }

    Duration left() {
        return Duration.ofNanos(Math.max(0, endNanos() - time.nanoTime()));
    }
}
