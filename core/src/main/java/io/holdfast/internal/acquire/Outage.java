package io.holdfast.internal.acquire;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * For how long the store of a lock has been away, as the requests of all acquisitions of this client have shown: so each
 * does not wait for a whole ttl anew. Thread-safe.
 */
final class Outage {

    private final AtomicReference<@Nullable Span> span = new AtomicReference<>();

    /**
     * Counts a failed request. Returns how long requests have failed by now, with no more than a ttl between the failure of one
     * and the sending of the next: a request may take longer than a ttl to fail.
     */
    long lastsNanos(long askedNanos, long nowNanos, long ttlNanos) {
        Span known = span.get();
        Span now = new Span(known != null && isOn(known, askedNanos, ttlNanos) ? known.firstNanos : nowNanos, nowNanos);
        span.compareAndSet(known, now);
        return nowNanos - now.firstNanos;
    }

    /** Whether a request had failed within a ttl when one was sent, and none has been answered since. */
    boolean isOn(long askedNanos, long ttlNanos) {
        return isOn(span.get(), askedNanos, ttlNanos);
    }

    private static boolean isOn(@Nullable Span known, long askedNanos, long ttlNanos) {
        return known != null && askedNanos - known.lastNanos <= ttlNanos;
    }

    /** Whether the store has answered since the last request that failed, or none has failed. */
    boolean hasEnded() {
        return span.get() == null;
    }

    /** The store has answered. */
    void end() {
        if (span.get() != null) {
            span.set(null);
        }
    }

    private record Span(long firstNanos, long lastNanos) {}
}
