package io.holdfast.file;

import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/**
 * The one thread of a client that looks whether its tickets have been let in, and now and then whether a holder was
 * released by force. It sleeps while there is nothing to look for. Thread-safe.
 */
final class TicketPoller {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());

    /** For the first in the queue: most locks are held shortly. */
    private static final long FIRST_LOOK_NANOS = 100_000;
    /** The further back, the less a look can find. */
    private static final long PER_WAITER_AHEAD_NANOS = 300_000;
    /** How late a killed or slow holder is noticed at worst. */
    private static final long RAREST_LOOK_NANOS = 20_000_000;
    /** How late a forced release is noticed. */
    private static final long FORCE_LOOK_NANOS = 250_000_000;

    private static final long SLEEP_NANOS = Duration.ofHours(1).toNanos();

    private final TimeSource time;
    private final HolderWatch holders;
    private final Thread thread;
    private final Map<Ticket, LockFile> tickets = new ConcurrentHashMap<>();
    /** Files for which a ticket has just begun to wait. */
    private final Set<LockFile> news = ConcurrentHashMap.newKeySet();
    /** Only the thread uses it. */
    private final Map<LockFile, Pace> paces = new HashMap<>();

    private final AtomicBoolean started = new AtomicBoolean();
    private volatile boolean closed;
    private volatile boolean asleep;

    private static final class Pace {
        private long intervalNanos = FIRST_LOOK_NANOS;
        private long dueNanos;

        Pace(long dueNanos) {
            this.dueNanos = dueNanos;
        }
    }

    TicketPoller(String clientName, TimeSource time, HolderWatch holders) {
        this.time = time;
        this.holders = holders;
        this.thread = new Thread(this::run, "holdfast-" + clientName + "-tickets");
        thread.setDaemon(true);
    }

    /** The ticket has to wait: from now on its file is looked at until it waits no more. */
    void watch(Ticket ticket, LockFile file) {
        tickets.put(ticket, file);
        news.add(file);
        startOnce();
        LockSupport.unpark(thread);
    }

    /** There is something to watch over again. */
    void wake() {
        startOnce();
        if (asleep) {
            LockSupport.unpark(thread);
        }
    }

    /** Tickets still watched are not told any more. */
    void close() {
        closed = true;
        LockSupport.unpark(thread);
        tickets.forEach((ticket, file) -> file.forget(ticket.owner()));
    }

    private void startOnce() {
        if (!started.get() && started.compareAndSet(false, true)) {
            try {
                thread.start();
            } catch (Error noThread) {
                // The next ticket tries again.
                started.set(false);
                throw noThread;
            }
        }
    }

    private void run() {
        long forceLookNanos = time.nanoTime();
        while (!closed) {
            long now = time.nanoTime();
            if (holders.isNeeded() && now - forceLookNanos >= 0) {
                forceLookNanos = now + FORCE_LOOK_NANOS;
                lookForForce();
            }
            long next = lookAtTickets(now);
            boolean watching = holders.isNeeded();
            asleep = !watching;
            // A holder added from here on wakes this thread, since it sees that it sleeps; one added before is seen
            // here.
            if (!closed && watching == holders.isNeeded()) {
                time.parkUntil(this, watching ? earlier(next, forceLookNanos) : next);
            }
            asleep = false;
        }
    }

    private long lookAtTickets(long now) {
        refreshPaces(now);
        long next = now + SLEEP_NANOS;
        for (Map.Entry<LockFile, Pace> entry : paces.entrySet()) {
            Pace pace = entry.getValue();
            if (pace.dueNanos - now <= 0) {
                LockFile.Look look = lookAt(entry.getKey());
                long first = Math.min(FIRST_LOOK_NANOS + look.ahead() * PER_WAITER_AHEAD_NANOS, RAREST_LOOK_NANOS);
                long longer = Math.min(pace.intervalNanos * 3 / 2, RAREST_LOOK_NANOS);
                pace.intervalNanos = look.moved() ? first : Math.max(first, longer);
                pace.dueNanos = now + pace.intervalNanos;
            }
            next = earlier(next, pace.dueNanos);
        }
        return next;
    }

    /**
     * From the tickets, not the other way round: an earlier version let callers add paces and dropped those without a
     * ticket, and with it now and then one whose ticket had come after it counted them. Its waiter slept to its next
     * heartbeat.
     */
    private void refreshPaces(long now) {
        tickets.keySet().removeIf(ticket -> ticket.state() != Ticket.State.WAITING);
        Set<LockFile> files = new HashSet<>(tickets.values());
        paces.keySet().retainAll(files);
        for (LockFile file : files) {
            if (news.remove(file)) {
                paces.put(file, new Pace(now));
            } else {
                paces.computeIfAbsent(file, any -> new Pace(now));
            }
        }
        news.retainAll(files);
    }

    private LockFile.Look lookAt(LockFile file) {
        try {
            return file.look(time);
        } catch (RuntimeException | Error e) {
            // All tickets of the client hang on this thread.
            LOG.log(System.Logger.Level.ERROR, "looking at " + file.path(), e);
            return new LockFile.Look(false, 0);
        }
    }

    private void lookForForce() {
        try {
            holders.look();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "looking for locks released by force", e);
        }
    }

    private static long earlier(long one, long other) {
        return one - other < 0 ? one : other;
    }
}
