package io.holdfast;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * One leader among many candidates: whoever holds the lock of that name.
 *
 * <p>Thread-safe. However many campaign through one election, it is one candidate. Leadership ends by {@link #resign}, or on
 * its own at the lease's local deadline, store reachable or not; after that, campaign again. The epoch is the lease's token: larger for every later leader.
 */
public interface Election extends AutoCloseable {

    String name();

    LockOptions options();

    /** Waits until elected; returns the epoch. Returns at once if this election already leads. */
    long campaign() throws InterruptedException;

    /** As {@link #campaign()}, but no longer than {@code maxWait}; empty if another candidate led all the time. */
    OptionalLong campaign(Duration maxWait) throws InterruptedException;

    /** {@link #campaign()} without a waiting thread; cancelling withdraws the candidacy. */
    CompletableFuture<Long> campaignAsync();

    boolean isLeader();

    /** The epoch while leading. */
    OptionalLong epoch();

    /** Who leads and who campaigns, as the store sees it now. */
    LockView inspect();

    /** The lease of the leadership while leading; releasing it resigns. */
    Optional<Lease> leadership();

    /** Who leads, as the store sees it now: for those who do not campaign themselves. */
    Optional<LockView.Holder> leader();

    /**
     * Campaigns, runs the work as leader, resigns and returns when the work is done. If the leadership ends meanwhile, the
     * working thread is interrupted, and when the work has ended, whatever it returned or threw, campaigns again, for as long as
     * the store may be away. Closing the election ends this too; resigning on another thread only the present leadership.
     *
     * <pre>{@code
     * election.lead(lease -> {
     *     while (!Thread.currentThread().isInterrupted()) {
     *         assignNextPartition(lease.token());
     *     }
     * });
     * }</pre>
     *
     * @throws X what the work throws while leading
     */
    <X extends Exception> void lead(LeaseWork<? super Lease, X> work) throws InterruptedException, X;

    /** Ends the leadership if there is one. Does not call {@link #onDeposed}. */
    void resign();

    /**
     * Calls back with the epoch each time this candidate is elected, unless that leadership has ended by then. Callbacks of one
     * election run one after the other, and each leadership that was told ends once: by {@link #onDeposed}, by resigning or by
     * closing.
     */
    void onElected(LongConsumer callback);

    /** Calls back each time this candidate loses its leadership without resigning. */
    void onDeposed(Consumer<Loss> callback);

    /** Ends every pending campaign, waiting threads included, with a {@link java.util.concurrent.CancellationException}, and resigns. */
    @Override
    void close();
}
