package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.client.WatchHub;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A lease of etcd and the keys that live and die with it. Thread-safe. */
public final class Session {

    /** Whose lease it is. */
    enum Kind {
        /** For all locks of one ttl. */
        COMMON,
        /** For one lock that was extended beyond its ttl. */
        OWN,
        /** The user's: kept alive by us, ended by him. */
        GIVEN
    }

    /** A key nobody wants, and since when. */
    record Unwanted(TicketKey key, long sinceNanos) {}

    private final long lease;
    private final Duration ttl;
    private final Kind kind;
    private final String idPrefix;
    private final AtomicLong numbers; // of the client, so that no id comes twice, whatever becomes of a session
    private final Map<ByteString, TicketKey> live = new ConcurrentHashMap<>();
    private final Map<ByteString, Unwanted> unwanted = new ConcurrentHashMap<>();
    private final AtomicLong baseNanos;
    private volatile boolean over;
    private volatile boolean ownKeyWritten;
    private volatile long sweptNanos;
    private volatile long usedNanos;
    private volatile WatchHub.@Nullable Watch watch;

    Session(long lease, Duration ttl, Kind kind, String clientId, AtomicLong numbers, long baseNanos) {
        this.lease = lease;
        this.ttl = ttl;
        this.kind = kind;
        this.numbers = numbers;
        // Several clients may be given the same lease: their numbers must not meet.
        String own = Long.toHexString(lease) + "-";
        this.idPrefix = kind == Kind.GIVEN ? own + clientId.substring(0, 12) + "-" : own;
        this.baseNanos = new AtomicLong(baseNanos);
        this.sweptNanos = baseNanos;
        this.usedNanos = baseNanos;
    }

    public long lease() {
        return lease;
    }

    /** What etcd really grants. */
    public Duration ttl() {
        return ttl;
    }

    Kind kind() {
        return kind;
    }

    /** The last part of a key that was never used and never will be again. */
    public String nextId() {
        return idPrefix + numbers.incrementAndGet();
    }

    /** Whether a key's last part is one of {@link #nextId}. */
    boolean isOwnId(String id) {
        return id.startsWith(idPrefix);
    }

    /** Just before the request was sent by which etcd last extended the lease. */
    public long baseNanos() {
        return baseNanos.get();
    }

    void markExtended(long newBaseNanos) {
        baseNanos.accumulateAndGet(newBaseNanos, (a, b) -> a - b > 0 ? a : b);
    }

    boolean isExpired(long nowNanos) {
        return nowNanos - baseNanos.get() >= ttl.toNanos();
    }

    /** Keys somebody wants. What else is found of this session is an orphan. */
    Map<ByteString, TicketKey> live() {
        return live;
    }

    /** Keys nobody wants that may exist, or may yet come to exist. */
    Map<ByteString, Unwanted> unwanted() {
        return unwanted;
    }

    /** Whether there may be something of it at the server. */
    public boolean has(TicketKey key) {
        return live.containsKey(key.bytes()) || unwanted.containsKey(key.bytes());
    }

    /** Whether it is for one lock alone, whose key nobody wants any more. */
    boolean isAbandoned() {
        return kind == Kind.OWN && live.isEmpty() && !unwanted.isEmpty();
    }

    /** Whether what may be left of lost requests is looked after: if not for a ttl, the lease must not live on with it. */
    boolean isTidy(long nowNanos) {
        return unwanted.isEmpty() || nowNanos - sweptNanos <= ttl.toNanos();
    }

    boolean isOver() {
        return over;
    }

    /** Takes a key in before it is written. False if the lease has ended: then nobody would tell its ticket. */
    public synchronized boolean enter(TicketKey key) {
        if (!over) {
            live.put(key.bytes(), key);
        }
        return !over;
    }

    /** Ends if nobody has been in it for so long. Whether it did. */
    boolean endIfIdle(long nowNanos, long longestIdleNanos) {
        synchronized (this) {
            if (over || !live.isEmpty() || nowNanos - usedNanos <= longestIdleNanos) {
                return false;
            }
            over = true;
        }
        stopWatching();
        return true;
    }

    void end() {
        synchronized (this) {
            over = true;
        }
        stopWatching();
    }

    private void stopWatching() {
        WatchHub.Watch current = watch;
        if (current != null) {
            current.close();
        }
    }

    /** Whether its own key is known to be written. */
    boolean isOwnKeyWritten() {
        return ownKeyWritten;
    }

    void markOwnKeyWritten() {
        ownKeyWritten = true;
    }

    void setWatch(WatchHub.Watch newWatch) {
        watch = newWatch;
        if (over) {
            stopWatching();
        }
    }

    long sweptNanos() {
        return sweptNanos;
    }

    void markSwept(long atNanos) {
        sweptNanos = atNanos;
    }

    void markUsed(long atNanos) {
        usedNanos = atNanos;
    }

    @Override
    public String toString() {
        return "lease " + Long.toHexString(lease);
    }
}
