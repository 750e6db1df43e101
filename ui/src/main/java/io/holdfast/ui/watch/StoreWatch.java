package io.holdfast.ui.watch;

import io.holdfast.Holdfast;
import io.holdfast.LockException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/*
 * One thread per store does all the looking, however many pages are open: pages that show the same share one look, and what
 * nobody shows is not looked at. What it may ask of the store is bounded by locks, not by requests, since a store does its work
 * per lock (on Redis one script call each): after a request for n locks the next is sent n / LOCKS_PER_SECOND later. With many
 * locks, or many different pages, looks become rarer, and pages say how old theirs is.
 */
/** Looks at one store for all open pages. Thread-safe. */
public final class StoreWatch implements AutoCloseable {

    /** At most so many locks are asked for per second, by all open pages together. */
    static final int LOCKS_PER_SECOND = 2_000;

    /** A listing shows no more locks than that. */
    static final int MOST_LOCKS = 20_000;

    private static final Duration BETWEEN_LISTINGS = Duration.ofSeconds(1);
    private static final Duration BETWEEN_LOOKS_AT_A_LOCK = Duration.ofMillis(500);
    private static final Duration LONGEST_BETWEEN_RETRIES = Duration.ofSeconds(4);

    /** Different prefixes, and different locks, that may be looked at. A listing takes some megabytes. */
    private static final int MOST_LISTINGS = 8;

    private static final int MOST_SINGLE_LOCKS = 40;

    /** What was seen is kept so long for a page that is reloaded. */
    private static final Duration KEPT_UNWANTED = Duration.ofSeconds(60);

    private final Supplier<Holdfast> connector;
    private final UnaryOperator<String> withoutCredentials;
    private final Thread thread;

    private final ReentrantLock mutex = new ReentrantLock();
    private final Condition changed = mutex.newCondition();
    private final Map<String, ListingLook> listings = new HashMap<>();
    private final Map<String, LockLook> locks = new HashMap<>();
    private boolean closed;

    private volatile @Nullable Holdfast holdfast;
    private volatile StoreState state = new StoreState(StoreState.Status.CONNECTING, "", Instant.now());

    // Only touched by the thread.
    private long notBeforeNanos = System.nanoTime();
    private int failures;

    public StoreWatch(String threadName, Supplier<Holdfast> connector, UnaryOperator<String> withoutCredentials) {
        this.connector = connector;
        this.withoutCredentials = withoutCredentials;
        this.thread = new Thread(this::run, threadName);
        thread.setDaemon(true);
        thread.start();
    }

    /** More different things are to be looked at than one store bears. */
    public static final class TooManyException extends RuntimeException {

        private static final long serialVersionUID = 1;

        TooManyException() {
            super("too many different filters or locks are open at this dashboard; close some pages");
        }
    }

    /**
     * Something to look at, looked at until closed.
     *
     * @param look what is seen
     * @param end no longer wanted
     */
    public record Watched<L>(L look, Runnable end) implements AutoCloseable {
        @Override
        public void close() {
            end.run();
        }
    }

    /** @param news runs after every step that may have shown something new, on the watching thread: it must return at once */
    public Watched<ListingLook> listing(String prefix, Runnable news) {
        return watch(
                listings,
                prefix,
                MOST_LISTINGS,
                now -> new ListingLook(prefix, MOST_LOCKS, BETWEEN_LISTINGS, now),
                news);
    }

    /** @param news as of {@link #listing} */
    public Watched<LockLook> lock(String name, Runnable news) {
        return watch(locks, name, MOST_SINGLE_LOCKS, now -> new LockLook(name, BETWEEN_LOOKS_AT_A_LOCK, now), news);
    }

    private interface Maker<L> {
        L make(long nowNanos);
    }

    private <L extends Look> Watched<L> watch(
            Map<String, L> looks, String key, int most, Maker<L> maker, Runnable news) {
        mutex.lock();
        try {
            long now = System.nanoTime();
            looks.values().removeIf(look -> look.isIdleFor(KEPT_UNWANTED, now));
            if (!looks.containsKey(key) && looks.size() >= most) {
                looks.values().removeIf(look -> !look.isWanted());
                if (looks.size() >= most) {
                    throw new TooManyException();
                }
            }
            L look = looks.computeIfAbsent(key, missing -> maker.make(now));
            // A listener of its own for every page, so that one can leave without the other.
            Runnable listener = () -> news.run();
            look.add(listener, now);
            changed.signalAll();
            return new Watched<>(look, () -> leave(look, listener));
        } finally {
            mutex.unlock();
        }
    }

    private void leave(Look look, Runnable listener) {
        mutex.lock();
        try {
            look.remove(listener, System.nanoTime());
        } finally {
            mutex.unlock();
        }
    }

    public StoreState state() {
        return state;
    }

    /** The client of the store, once there is one. */
    public Optional<Holdfast> holdfast() {
        return Optional.ofNullable(holdfast);
    }

    private void run() {
        for (Optional<Look> due = awaitDue(); due.isPresent(); due = awaitDue()) {
            take(due.get());
        }
    }

    /** Empty when it is closed. */
    private Optional<Look> awaitDue() {
        mutex.lock();
        try {
            while (!closed) {
                Optional<Look> first = Stream.<Look>concat(listings.values().stream(), locks.values().stream())
                        .filter(Look::isWanted)
                        .min(Comparator.comparingLong(look -> look.dueNanos() - notBeforeNanos));
                if (first.isEmpty()) {
                    changed.await();
                    continue;
                }
                long now = System.nanoTime();
                long wait = Math.max(first.get().dueNanos() - now, notBeforeNanos - now);
                if (wait <= 0) {
                    first.get().prepare();
                    return first;
                }
                changed.awaitNanos(wait);
            }
            return Optional.empty();
        } catch (InterruptedException e) {
            return Optional.empty();
        } finally {
            mutex.unlock();
        }
    }

    private void take(Look look) {
        long sent = System.nanoTime();
        try {
            int asked = look.step(connected());
            failures = 0;
            if (state.status() != StoreState.Status.UP) {
                state = new StoreState(StoreState.Status.UP, "", Instant.now());
            }
            notBeforeNanos = sent + asked * (Duration.ofSeconds(1).toNanos() / LOCKS_PER_SECOND);
            mutex.lock();
            try {
                look.stepped(sent, System.nanoTime());
            } finally {
                mutex.unlock();
            }
        } catch (RuntimeException e) {
            failed(look, e);
        }
        listeners(look).forEach(Runnable::run);
    }

    private void failed(Look look, RuntimeException failure) {
        failures++;
        Duration pause = Duration.ofMillis(250L << Math.min(failures, 4));
        notBeforeNanos = System.nanoTime()
                + (pause.compareTo(LONGEST_BETWEEN_RETRIES) < 0 ? pause : LONGEST_BETWEEN_RETRIES).toNanos();
        String message = withoutCredentials.apply(
                failure instanceof LockException || failure.getMessage() != null
                        ? String.valueOf(failure.getMessage())
                        : failure.toString());
        boolean alreadyDown = state.status() == StoreState.Status.DOWN;
        state = new StoreState(StoreState.Status.DOWN, message, alreadyDown ? state.since() : Instant.now());
        mutex.lock();
        try {
            look.failed(notBeforeNanos);
        } finally {
            mutex.unlock();
        }
    }

    private Holdfast connected() {
        Holdfast now = holdfast;
        if (now == null) {
            now = connector.get();
            holdfast = now;
        }
        return now;
    }

    private List<Runnable> listeners(Look look) {
        mutex.lock();
        try {
            return look.listeners();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public void close() {
        mutex.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            mutex.unlock();
        }
        thread.interrupt();
        boolean interrupted = false;
        try {
            thread.join(Duration.ofSeconds(2).toMillis());
        } catch (InterruptedException e) {
            interrupted = true;
        }
        Holdfast last = holdfast;
        if (last != null) {
            last.close();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
