package io.holdfast.jdbc;

import io.holdfast.jdbc.Baton.Arrival;
import io.holdfast.jdbc.Connections.Loan;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The batons this client waits for, and what it knows of locks that are handed on by them. Thread-safe. */
final class Relay implements AutoCloseable {

    /*
     * How a contended lock goes from client to client without anybody asking for it.
     *
     * Beside each lock the server keeps a session lock, the baton (GET_LOCK on MySQL and MariaDB, an advisory lock on
     * PostgreSQL). Who waits to hold the lock alone queues for the baton, in a connection that does nothing else. Who has it
     * takes the lock, keeps the baton while holding the lock, and passes it on after the release: the server wakes the next
     * one, in the order they came. The row stays the truth. The baton only says when asking pays, so nothing that happens to
     * it can make two holders:
     *
     *   - The lock was taken without the baton, as by the first in an idle moment: who has the baton asks now and then.
     *   - The baton's connection breaks: the server passes it on early, to somebody who finds the lock held and does the same.
     *   - Who has the baton is paused, or a network lost it: those who queue look at the row every now and then, and take a
     *     lock that nobody has taken between two looks. Then they leave the baton alone for a while and stand in line
     *     themselves.
     *
     * All who queue for the baton stand in the lock's line (see Line) as one, the relay, so that they and those who poll take
     * turns: the relay's place moves to the end each time one of them takes the lock. It is renewed by those who had to wait
     * for the baton, for then there may be more; who got it at once takes the place away. So after the last one a place may be
     * left for a second, with nobody behind it: that shows by the baton, which can then be had at once.
     *
     * Connections are dear, so a client has a few batons at a time; for all other locks it polls. And on PostgreSQL, where a
     * statement that waits holds up others (see BatonSql), it waits for a second: in a line that slow it stands in line itself.
     */

    private static final Logger LOG = System.getLogger(Relay.class.getName());

    /** How long to do without, after a connection failed or a lock was free and its baton did not come. */
    private static final Duration MISTRUST = Duration.ofSeconds(5);

    /** From so many entries on, those that are out of date are cleared away. */
    private static final int MANY = 1_000;

    private final Connections connections;
    private final TimeSource time;
    private final Semaphore slots;
    private final ThreadPoolExecutor waiters;
    private final ThreadPoolExecutor cleaners;
    private final Set<Baton> queued = ConcurrentHashMap.newKeySet();
    private final Map<String, Long> runsUntil = new ConcurrentHashMap<>();
    private final Map<String, Long> mistrustedUntil = new ConcurrentHashMap<>();
    private volatile boolean useless;
    private volatile long mistrustedAllUntil;

    /** @param size how many connections may wait or be kept at a time */
    Relay(int size, Connections connections, TimeSource time, String threadName) {
        this.connections = connections;
        this.time = time;
        this.slots = new Semaphore(size);
        this.useless = size == 0;
        this.mistrustedAllUntil = time.nanoTime();
        this.waiters = threads(Math.max(1, size), new LinkedBlockingQueue<>(), threadName + "-baton-");
        this.cleaners = threads(2, new LinkedBlockingQueue<>(), threadName + "-baton-end-");
    }

    /**
     * Queues for a lock's baton. Empty if it has to be done without.
     *
     * @param ring called when it has come, or will not come
     * @param tooLate called before, if it did not come in time
     */
    Optional<Baton> queue(String name, BatonSql sql, Runnable ring, Runnable tooLate) {
        boolean trusted = !useless && time.nanoTime() - mistrustedAllUntil >= 0 && !isAhead(mistrustedUntil, name);
        if (!trusted || !slots.tryAcquire()) {
            return Optional.empty();
        }
        Baton baton = new Baton(sql);
        try {
            waiters.execute(() -> await(baton, ring, tooLate));
            return Optional.of(baton);
        } catch (RuntimeException | Error e) {
            // Closed, or no thread to be had: it has to be done without.
            slots.release();
            return Optional.empty();
        }
    }

    private void await(Baton baton, Runnable ring, Runnable tooLate) {
        queued.add(baton);
        Arrival arrival = connect().map(baton::await).orElse(Arrival.NEVER);
        if (arrival == Arrival.TOO_LATE) {
            tooLate.run();
        } else if (arrival == Arrival.USELESS) {
            useless = true;
            LOG.log(Level.INFO, "Session locks cannot be used behind a connection pooler; polling instead");
        } else if (arrival == Arrival.NEVER) {
            mistrustedAllUntil = time.nanoTime() + MISTRUST.toNanos();
            baton.giveUp();
        }
        queued.remove(baton);
        ring.run();
    }

    private Optional<Loan> connect() {
        try {
            return Optional.of(connections.lend(slots::release));
        } catch (SQLException | RuntimeException e) {
            LOG.log(Level.DEBUG, () -> "No connection to wait in the server's queue, polling instead: " + e);
            slots.release();
            return Optional.empty();
        }
    }

    private static ThreadPoolExecutor threads(int most, BlockingQueue<Runnable> queue, String name) {
        AtomicInteger number = new AtomicInteger();
        ThreadPoolExecutor threads = new ThreadPoolExecutor(most, most, 10, TimeUnit.SECONDS, queue, task -> {
            Thread thread = new Thread(task, name + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
        threads.allowCoreThreadTimeOut(true);
        return threads;
    }

    /** The lock was free, and its baton did not come. */
    void mistrust(String name) {
        set(mistrustedUntil, name, time.nanoTime() + MISTRUST.toNanos());
    }

    /** The relay has a place in the lock's line until then. */
    void runsUntil(String name, long untilNanos) {
        set(runsUntil, name, untilNanos);
    }

    /** The relay has no place in the lock's line any more. */
    void isOver(String name) {
        runsUntil.remove(name);
    }

    /** Whether others wait for the lock's baton, or did a moment ago, so that only who has it can take the lock. */
    boolean isRunning(String name) {
        return isAhead(runsUntil, name);
    }

    private boolean isAhead(Map<String, Long> times, String name) {
        Long until = times.get(name);
        if (until == null) {
            return false;
        }
        boolean ahead = until - time.nanoTime() > 0;
        if (!ahead) {
            times.remove(name, until);
        }
        return ahead;
    }

    private void set(Map<String, Long> times, String name, long untilNanos) {
        times.put(name, untilNanos);
        if (times.size() > MANY) {
            long now = time.nanoTime();
            times.values().removeIf(until -> until - now <= 0);
        }
    }

    /** Gives a baton up on a thread that may block. */
    void giveUp(Baton baton) {
        try {
            cleaners.execute(baton::giveUp);
        } catch (RuntimeException | Error e) {
            baton.cutOff();
        }
    }

    @Override
    public void close() {
        waiters.shutdown();
        cleaners.shutdown();
        queued.forEach(Baton::cutOff);
    }
}
