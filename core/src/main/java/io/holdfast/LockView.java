package io.holdfast;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A lock as its store saw it at one moment: for people and dashboards, not for deciding who holds it. Immutable.
 *
 * @param name the lock
 * @param holders who holds it, in order of their grants
 * @param waiters who waits, in order of the queue; empty on stores without a queue
 */
public record LockView(String name, List<Holder> holders, List<Waiter> waiters) {

    public LockView {
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
    }

    public static LockView free(String name) {
        return new LockView(name, List.of(), List.of());
    }

    public boolean isHeld() {
        return !holders.isEmpty();
    }

    /**
     * Where a request came from: metadata for people, never part of ownership.
     *
     * @param client the name of the Holdfast instance
     * @param host the machine
     * @param pid the process
     * @param thread the thread that asked: its name, or {@code #} and its id if it has none
     * @param note what the caller called its unit of work, see {@link LockOptions#withNote}
     * @param holds the locks that its unit of work held when it asked, newest first; not all if they are many or have long
     *     names, and none for futures without a note
     */
    public record Origin(
            String client, String host, long pid, String thread, Optional<String> note, List<String> holds) {

        public Origin {
            holds = List.copyOf(holds);
        }

        /** Without a note, holding nothing. */
        public Origin(String client, String host, long pid, String thread) {
            this(client, host, pid, thread, Optional.empty(), List.of());
        }

        @Override
        public String toString() {
            return client + " (" + host + ", pid " + pid + ", thread " + thread
                    + note.map(text -> ", " + text).orElse("") + ")";
        }
    }

    /**
     * A holder. A foreign one, say another library's key of the same name, has no origin.
     *
     * @param origin who; of another client the thread that was granted the lock, though it may have been handed on inside that
     *     client since, which the store is not told
     * @param demand what is held
     * @param token the lease's token; of another client that of the grant's first lease; empty for a foreign holder
     * @param since when it was granted, by the store's clock; on etcd and ZooKeeper, which keep no such time, when it began to
     *     ask, by its client's
     * @param timeLeft until it expires unless renewed; empty if it does not expire
     * @param standing whether somebody still holds it
     */
    public record Holder(
            Optional<Origin> origin,
            Demand demand,
            Optional<Long> token,
            Optional<Instant> since,
            Optional<Duration> timeLeft,
            Standing standing) {

        /** One that holds it. */
        public Holder(
                Optional<Origin> origin,
                Demand demand,
                Optional<Long> token,
                Optional<Instant> since,
                Optional<Duration> timeLeft) {
            this(origin, demand, token, since, timeLeft, Standing.HELD);
        }

        /** The same, released already. */
        public Holder lingering() {
            return new Holder(origin, demand, token, since, timeLeft, Standing.LINGERING);
        }

        public boolean isLingering() {
            return standing == Standing.LINGERING;
        }
    }

    /** What a holder does with the lock. */
    public enum Standing {
        /** It holds it. */
        HELD,
        /** It has released it; the lock stays taken until its shortest time is over, see {@link LockOptions#minHold()}. */
        LINGERING
    }

    /**
     * A waiter.
     *
     * @param origin who
     * @param demand what is asked for
     * @param since when it queued, by the store's clock
     */
    public record Waiter(Optional<Origin> origin, Demand demand, Optional<Instant> since) {}
}
