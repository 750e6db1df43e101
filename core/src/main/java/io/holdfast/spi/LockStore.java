package io.holdfast.spi;

import io.holdfast.LockView;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Where lock state lives.
 *
 * <p>Requests do their I/O on the calling thread and are over at their deadline, even when a socket, a pool or a name
 * lookup hangs. What a store learns about a claim it reports to its {@link Ticket}, whose state the engine reads afterwards.
 * Tokens are the store's own, also in views; the engine turns them into users' tokens. Thread-safe. What some stores can do and
 * others cannot is an interface of its own: {@link HintingStore}, {@link DowngradingStore}, {@link TokenRaisingStore},
 * {@link AdministeredStore}.
 *
 * <p>A store may keep a ticket from its request until it has reported its end, or is asked to release or withdraw it. One that
 * ended by its own deadline is released in the background too, but not if the store cannot be reached for a ttl: forget tickets
 * that are {@link Ticket.State#ENDED} now and then.
 *
 * <p>Every request may throw {@link io.holdfast.StoreUnavailableException} if it was certainly not applied,
 * {@link io.holdfast.UnsupportedLockException} if it never will be, leaving nothing behind, and
 * {@link io.holdfast.UnknownOutcomeException} if it may have been. The engine undoes the latter by {@link #withdraw}.
 */
public interface LockStore extends AutoCloseable {

    /** How to ask for a lock. */
    enum Mode {
        /** Once, with no trace left if it is refused. Never overtakes tickets in the queue. */
        TRY,
        /** Or take a place in the queue; only for stores whose {@link StoreTraits#queues} says so. */
        QUEUE
    }

    StoreTraits traits();

    /**
     * Asks for a lock. Empty once the ticket has been told: {@link Ticket#granted}, or, in {@link Mode#QUEUE},
     * {@link Ticket#waiting}. A queued ticket is kept by {@link #renew}, may be granted or lost at any time, and leaves the
     * queue through {@link #withdraw}.
     */
    Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline);

    /**
     * Keeps tickets, waiting or held, for their ttl from now on; never shortens, never revives. Each is told
     * {@link Ticket#waiting}, {@link Ticket#extended}, {@link Ticket#granted}, {@link Ticket#gone} or {@link Ticket#failing}.
     * Called with tickets of one {@link #server} at a time. An exception counts as failing for all that were not told.
     */
    void renew(List<Ticket> tickets, Deadline deadline);

    /** As {@link #renew} for one held ticket, and for at least that ttl. Throws where a renewal reports a failure. */
    void extend(Ticket ticket, Duration ttl, Deadline deadline);

    /**
     * Gives a grant back if its owner still has it, with the ticket's {@link Ticket#storeToken}, and lets the next in. The
     * ticket has ended before, and the store forgets it.
     *
     * @param linger if positive, the lock first stays taken this long, by nobody, whether or not this process lives
     */
    ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline);

    /**
     * Removes whatever a ticket may have left, a place in the queue or a grant, by its owner. The ticket has ended before, and
     * the store forgets it. Idempotent.
     */
    Withdrawal withdraw(Ticket ticket, Deadline deadline);

    LockView view(String name, Deadline deadline);

    /**
     * Some of the locks that are held or waited for and whose name begins with {@code prefix}.
     *
     * @param after where to go on: empty to begin, then what the page before said is {@link Page#next}
     * @param limit how many at most
     */
    Page views(String prefix, Optional<String> after, int limit, Deadline deadline);

    /** Connects if need be, and asks the server, or one that could serve locks, for a sign of life. */
    void ping(Deadline deadline);

    /** Which server serves a lock. Servers are asked in parallel, so a dead one delays only its own locks. */
    default String server(String name) {
        return "";
    }

    /** Ends the store's threads and connections. What is still held is left to expire. */
    @Override
    void close();

    /**
     * A part of a listing.
     *
     * @param locks in the store's order
     * @param next where the next page begins, in terms only the store knows; empty after the last
     */
    record Page(List<LockView> locks, Optional<String> next) {

        public Page {
            locks = List.copyOf(locks);
        }
    }
}
