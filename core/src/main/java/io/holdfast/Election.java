package io.holdfast;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/**
 * One leader among many candidates: whoever holds the lock of that name.
 *
 * <p>Thread-safe. Leadership ends by {@link #resign}, or on its own at the lease's local deadline, store reachable or
 * not; after that, campaign again. The epoch is the lease's token: larger for every later leader.
 */
public interface Election extends AutoCloseable {

    String name();

    LockOptions options();

    /** Waits until elected; returns the epoch. Returns at once if this election already leads. */
    long campaign() throws InterruptedException;

    /** As {@link #campaign()}, but no longer than {@code maxWait}; empty if somebody else led all the time. */
    OptionalLong campaign(Duration maxWait) throws InterruptedException;

    /** {@link #campaign()} without a waiting thread; cancelling withdraws the candidacy. */
    CompletableFuture<Long> campaignAsync();

    boolean isLeader();

    /** The epoch while leading. */
    OptionalLong epoch();

    /** Who leads and who campaigns, as the store sees it now. */
    LockView inspect();

    /** Ends the leadership if there is one. Does not call {@link #onDeposed}. */
    void resign();

    /**
     * Calls back with the epoch each time this candidate is elected, unless that leadership has ended by then. It may end, and
     * {@link #onDeposed} say so, while the callback runs.
     */
    void onElected(LongConsumer callback);

    /** Calls back each time this candidate loses its leadership without resigning. */
    void onDeposed(Consumer<Loss> callback);

    /** Withdraws every pending candidacy of {@link #campaignAsync} and resigns. */
    @Override
    void close();
}
