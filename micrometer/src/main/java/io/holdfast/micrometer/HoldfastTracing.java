package io.holdfast.micrometer;

import io.holdfast.Holdfast;
import io.holdfast.LockEvent.Outcome;
import io.holdfast.spi.LockObserver;
import io.micrometer.tracing.Span;
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Spans of the acquisitions of one client that waited or failed. They are made when those are over, with the time they began at, so
 * that an acquisition that found its lock free costs no span. Named {@code acquire lock}, with the tags {@code holdfast.lock},
 * {@code holdfast.outcome}, {@code holdfast.store} and, if it got the lock, {@code holdfast.token}; the parent is the span in which
 * the lock was asked for.
 *
 * <pre>{@code
 * Holdfast.builder().observer(HoldfastTracing.of(tracer))
 * }</pre>
 *
 * <p>Needs micrometer-tracing. Thread-safe; one per client.
 */
public final class HoldfastTracing implements LockObserver {

    private static final Duration WAITED = Duration.ofMillis(10);

    private final Tracer tracer;
    private final Duration waitedAtLeast;
    /** Of acquisitions under way: others may tell how they ended, on threads that know nothing of the span they began in. */
    private final Map<Long, TraceContext> parents = new ConcurrentHashMap<>();

    private volatile @Nullable Holdfast client;

    private HoldfastTracing(Tracer tracer, Duration waitedAtLeast) {
        this.tracer = Objects.requireNonNull(tracer, "tracer");
        this.waitedAtLeast = Objects.requireNonNull(waitedAtLeast, "waitedAtLeast");
    }

    public static HoldfastTracing of(Tracer tracer) {
        return of(tracer, WAITED);
    }

    /** @param waitedAtLeast how long an acquisition took at least that counts as having waited; above what one request takes */
    public static HoldfastTracing of(Tracer tracer, Duration waitedAtLeast) {
        return new HoldfastTracing(tracer, waitedAtLeast);
    }

    @Override
    public void connected(Holdfast newClient) {
        client = newClient;
    }

    @Override
    public void started(Acquisition acquisition) {
        TraceContext parent = tracer.currentTraceContext().context();
        if (parent != null) {
            parents.put(acquisition.id(), parent);
        }
    }

    @Override
    public void acquired(Acquisition acquisition, Way way, long token, Duration waited) {
        TraceContext parent = parents.remove(acquisition.id());
        if (waited.compareTo(waitedAtLeast) >= 0) {
            span(acquisition, parent, waited, way.name())
                    .tag("holdfast.token", token)
                    .start()
                    .end();
        }
    }

    @Override
    public void unsuccessful(Acquisition acquisition, Outcome outcome, Duration waited) {
        TraceContext parent = parents.remove(acquisition.id());
        span(acquisition, parent, waited, outcome.name()).start().end();
    }

    private Span.Builder span(Acquisition acquisition, @Nullable TraceContext parent, Duration waited, String outcome) {
        Instant began = Instant.now().minus(waited);
        Span.Builder span = tracer.spanBuilder()
                .name("acquire lock")
                .kind(Span.Kind.CLIENT)
                .startTimestamp(
                        TimeUnit.SECONDS.toMicros(began.getEpochSecond()) + began.getNano() / 1_000,
                        TimeUnit.MICROSECONDS)
                .tag("holdfast.lock", acquisition.lock())
                .tag("holdfast.outcome", outcome.toLowerCase(Locale.ROOT));
        Holdfast observed = client;
        if (observed != null) {
            span.tag("holdfast.store", observed.store());
        }
        return parent == null ? span.setNoParent() : span.setParent(parent);
    }
}
