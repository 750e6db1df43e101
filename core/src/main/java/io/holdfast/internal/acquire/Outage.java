package io.holdfast.internal.acquire;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * For how long the store of a lock has been away, as the requests of all acquisitions of this client have shown: so each
 * does not wait for a whole ttl anew. Thread-safe.
 */
final class Outage {

    private final AtomicReference<@Nullable Span> span = new AtomicReference<>();

    /** Counts a failed request. Returns how long requests have failed by now, with no more than a ttl between two. */
    long lastsNanos(long nowNanos, long ttlNanos) {
        Span known = span.get();
        Span now = new Span(known != null && isOn(known, nowNanos, ttlNanos) ? known.firstNanos : nowNanos, nowNanos);
        span.compareAndSet(known, now);
        return nowNanos - now.firstNanos;
    }

    /** Whether a request has failed within a ttl and none has been answered since. */
    boolean isOn(long nowNanos, long ttlNanos) {
        return isOn(span.get(), nowNanos, ttlNanos);
    }

    private static boolean isOn(@Nullable Span known, long nowNanos, long ttlNanos) {
        return known != null && nowNanos - known.lastNanos <= ttlNanos;
    }

    /** The store has answered. */
    void end() {
        if (span.get() != null) {
            span.set(null);
        }
    }

    private record Span(long firstNanos, long lastNanos) {}
}
