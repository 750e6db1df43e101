package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.client.WatchHub;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Stream;
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

    private final long lease;
    private final Duration ttl;
    private final Kind kind;
    private final String slotPrefix;
    private final Optional<ByteString> marker;
    private final Set<TicketKey> keys = ConcurrentHashMap.newKeySet();
    private final AtomicLong baseNanos;
    private volatile ByteString readable;
    private volatile boolean over;
    private volatile OwnKey ownKey = OwnKey.UNKNOWN;
    private volatile long sweptNanos;
    private volatile long usedNanos;
    private volatile WatchHub.@Nullable Watch watch;

    /** One of ours. */
    Session(long lease, Duration ttl, Kind kind, long baseNanos, ByteString readable) {
        this(lease, ttl, kind, baseNanos, readable, "", Optional.empty());
    }

    /**
     * @param readable a key the login may read, whether it is there or not
     * @param slotPrefix tells the tickets of this client from those of others that were given the same lease
     * @param marker what must be there whenever a ticket is written, if anything
     */
    Session(
            long lease,
            Duration ttl,
            Kind kind,
            long baseNanos,
            ByteString readable,
            String slotPrefix,
            Optional<ByteString> marker) {
        this.lease = lease;
        this.ttl = ttl;
        this.kind = kind;
        this.readable = readable;
        this.slotPrefix = slotPrefix;
        this.marker = marker;
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

    /** The last part of a ticket's key. */
    public String slot(long number) {
        return slotPrefix + number;
    }

    /** Whether a key on this lease with that last part was written by this client. */
    boolean isOwnSlot(String slot) {
        return slot.startsWith(slotPrefix);
    }

    /** What must be there whenever a ticket is written, if anything: on a lease that others keep alive. */
    public Optional<ByteString> marker() {
        return marker;
    }

    /** Just before the request was sent by which etcd last extended the lease. */
    public long baseNanos() {
        return baseNanos.get();
    }

    public void markExtended(long newBaseNanos) {
        baseNanos.accumulateAndGet(newBaseNanos, (a, b) -> a - b > 0 ? a : b);
    }

    boolean isExpired(long nowNanos) {
        return nowNanos - baseNanos.get() >= ttl.toNanos();
    }

    /** Those that exist, or may yet come to exist. */
    Set<TicketKey> keys() {
        return keys;
    }

    /** Those somebody wants. What else is found of this session is an orphan. */
    Stream<TicketKey> live() {
        return keys.stream().filter(Predicate.not(TicketKey::isAbandoned));
    }

    /** Those nobody wants. */
    List<TicketKey> abandoned() {
        return keys.stream().filter(TicketKey::isAbandoned).toList();
    }

    /** Whether there may be something of it at the server. */
    public boolean has(TicketKey key) {
        return keys.contains(key);
    }

    /** Whether it is for one lock alone, whose key nobody wants any more. */
    boolean isAbandoned() {
        return kind == Kind.OWN && !keys.isEmpty() && isUnused();
    }

    boolean isUnused() {
        return live().findAny().isEmpty();
    }

    /** Whether what may be left of lost requests is looked after: if not for a ttl, the lease must not live on with it. */
    boolean isTidy(long nowNanos) {
        return nowNanos - sweptNanos <= ttl.toNanos() || keys.stream().noneMatch(TicketKey::isAbandoned);
    }

    boolean isOver() {
        return over;
    }

    /** Takes a key in, before it is written or when it has moved here. False if the lease has ended: then nobody would tell its ticket. */
    public synchronized boolean enter(TicketKey key) {
        if (!over) {
            keys.add(key);
        }
        return !over;
    }

    /** Ends if nobody has been in it for so long. Whether it did. */
    boolean endIfIdle(long nowNanos, long longestIdleNanos) {
        synchronized (this) {
            if (over || nowNanos - usedNanos <= longestIdleNanos || !isUnused()) {
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

    /** What became of the key that says that the session is there. */
    enum OwnKey {
        UNKNOWN,
        WRITTEN,
        /** The login has no rights to it: what happens to the session is found out by renewals. */
        FORBIDDEN
    }

    OwnKey ownKey() {
        return ownKey;
    }

    void markOwnKey(OwnKey now) {
        ownKey = now;
    }

    /** A key the login may read, whether it is there or not. */
    ByteString readable() {
        return readable;
    }

    void setReadable(ByteString key) {
        readable = key;
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
