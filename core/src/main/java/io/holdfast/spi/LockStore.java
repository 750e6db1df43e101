package io.holdfast.spi;

import io.holdfast.LockView;
import java.time.Duration;
import java.util.List;

/**
 * Where lock state lives.
 *
 * <p>Requests do their I/O on the calling thread and are over at their deadline, even when a socket, a pool or a name
 * lookup hangs. Thread-safe. What some stores can do and others cannot is an interface of its own:
 * {@link QueueingStore}, {@link RingingStore}, {@link DowngradingStore}, {@link TokenRaisingStore},
 * {@link AdministeredStore}.
 *
 * <p>Every request may throw {@link io.holdfast.StoreUnavailableException} if it was certainly not applied,
 * {@link io.holdfast.UnsupportedLockException} if it never will be, leaving nothing behind, and
 * {@link io.holdfast.UnknownOutcomeException} if it may have been. The engine undoes the latter by {@link #withdraw}.
 */
public interface LockStore extends AutoCloseable {

    StoreTraits traits();

    /**
     * Asks once: {@link Answer.Granted}, or {@link Answer.Refused} with no trace left. Never overtakes tickets in line.
     */
    Answer attempt(Request request, Deadline deadline);

    /**
     * Keeps claims for at least the given ttls from now on; never shortens, never revives. One answer per request, in
     * order. Called with claims of one {@link #lane} at a time.
     */
    List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline);

    /**
     * Ends a grant if its owner still has it, and lets the next in.
     *
     * @param linger if positive, the lock first stays taken this long, by nobody, whether or not this process lives
     */
    ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline);

    /** Removes whatever a request may have left, ticket or grant, by its owner id. Idempotent. */
    Withdrawal withdraw(Request request, Deadline deadline);

    LockView view(String name, Deadline deadline);

    /** Locks that are held or waited for, by name. */
    List<LockView> views(String prefix, Deadline deadline);

    /** Which server serves a lock. Lanes are renewed in parallel, so a dead server delays only its own locks. */
    default String lane(String name) {
        return "";
    }

    /** Ends the store's threads and connections. What is still held is left to expire. */
    @Override
    void close();
}
