package io.holdfast.micrometer;

import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.LockEvent.Outcome;
import io.holdfast.LockStatistics;
import io.holdfast.LockStatistics.StoreOperation;
import io.holdfast.Loss;
import io.holdfast.ReleaseResult;
import io.holdfast.spi.LockObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The meters of one client. They are registered as they are needed, and go when the client is closed.
 *
 * <pre>{@code
 * Holdfast holdfast = Holdfast.builder()
 *         .store("redis://localhost:6379")
 *         .observer(HoldfastMetrics.of(registry))
 *         .connect();
 * }</pre>
 *
 * <table>
 * <caption>Meters; all have the tag {@code store} too</caption>
 * <tr><th>meter</th><th>kind</th><th>tags</th></tr>
 * <tr><td>{@code holdfast.lock.acquire}</td><td>timer</td><td>lock, demand, outcome</td></tr>
 * <tr><td>{@code holdfast.lock.hold}</td><td>timer</td><td>lock, outcome</td></tr>
 * <tr><td>{@code holdfast.lock.waiting}, {@code holdfast.lock.held}</td><td>gauge</td><td></td></tr>
 * <tr><td>{@code holdfast.lock.lost}</td><td>counter</td><td>lock, reason</td></tr>
 * <tr><td>{@code holdfast.lease.renewal}</td><td>counter</td><td>outcome</td></tr>
 * <tr><td>{@code holdfast.lease.remaining}</td><td>gauge: the least share of a ttl that is left</td><td></td></tr>
 * <tr><td>{@code holdfast.store.request}</td><td>timer</td><td>operation, outcome</td></tr>
 * </table>
 *
 * <p>The tag {@code lock} has at most 100 values; further locks count as {@code other}. Thread-safe; one per client.
 */
public final class HoldfastMetrics implements LockObserver {

    private static final int MOST_LOCK_TAGS = 100;

    private final MeterRegistry registry;
    private final LockTag lockTag;
    private final Histogram histogram;
    private final @Nullable String storeTag;
    private final Map<Key, Meter> meters = new ConcurrentHashMap<>();
    private volatile @Nullable Holdfast client;
    private volatile boolean closed;

    private enum Histogram {
        NONE,
        PUBLISHED
    }

    private record Key(String meter, String first, String second, String third) {}

    private HoldfastMetrics(Builder builder) {
        this.registry = builder.registry;
        Function<String, Optional<String>> templates = builder.templates;
        UnaryOperator<String> naming = builder.naming;
        this.lockTag = new LockTag(lock -> templates.apply(lock).orElseGet(() -> naming.apply(lock)), MOST_LOCK_TAGS);
        this.histogram = builder.histogram;
        this.storeTag = builder.store;
    }

    public static HoldfastMetrics of(MeterRegistry registry) {
        return builder(registry).build();
    }

    public static Builder builder(MeterRegistry registry) {
        return new Builder(registry);
    }

    /** Settings of the meters of one client. Not thread-safe. */
    public static final class Builder {

        private final MeterRegistry registry;
        private UnaryOperator<String> naming = LockTag::firstPart;
        private Function<String, Optional<String>> templates = lock -> Optional.empty();
        private Histogram histogram = Histogram.NONE;
        private @Nullable String store;

        private Builder(MeterRegistry registry) {
            this.registry = Objects.requireNonNull(registry, "registry");
        }

        /** What the tag {@code lock} is for a lock's name; by default the part before the first slash. */
        public Builder lockTag(UnaryOperator<String> tagOfName) {
            this.naming = Objects.requireNonNull(tagOfName, "tagOfName");
            return this;
        }

        /**
         * The template a lock's name was made of, such as {@code stock/{sku}}, if it is known: then it is the tag, and
         * {@link #lockTag} is for the others.
         */
        public Builder lockTemplates(Function<String, Optional<String>> templateOfName) {
            this.templates = Objects.requireNonNull(templateOfName, "templateOfName");
            return this;
        }

        /** Buckets for percentiles of all timers, which cost many time series. */
        public Builder withHistograms() {
            this.histogram = Histogram.PUBLISHED;
            return this;
        }

        /** What the tag {@code store} is; by default what {@link Holdfast#store()} says. */
        public Builder storeTag(String tag) {
            this.store = Objects.requireNonNull(tag, "tag");
            return this;
        }

        public HoldfastMetrics build() {
            return new HoldfastMetrics(this);
        }
    }

    @Override
    public void connected(Holdfast newClient) {
        if (client != null) {
            throw new IllegalStateException(
                    "These meters are those of " + client + " already: make a HoldfastMetrics for each client");
        }
        client = newClient;
        gauge("holdfast.lock.waiting", "Acquisitions that wait", LockStatistics::waiting);
        gauge("holdfast.lock.held", "Leases held", LockStatistics::held);
        gauge(
                "holdfast.lease.remaining",
                "Least share of its ttl that a held lease has left; below a half, renewals fail",
                LockStatistics::leastShareLeft);
    }

    @Override
    public void acquired(Acquisition acquisition, Way way, long token, Duration waited) {
        acquire(acquisition, text(way), waited);
    }

    @Override
    public void unsuccessful(Acquisition acquisition, Outcome outcome, Duration waited) {
        acquire(acquisition, text(outcome), waited);
    }

    private void acquire(Acquisition acquisition, String outcome, Duration waited) {
        Key key =
                new Key("holdfast.lock.acquire", lockTag.of(acquisition.lock()), demand(acquisition.demand()), outcome);
        timer(
                        key,
                        "Time from asking for a lock to having it, or not",
                        it -> Tags.of("lock", it.first, "demand", it.second, "outcome", it.third))
                .record(waited);
        dropIfClosed();
    }

    @Override
    public void released(Acquisition acquisition, long token, ReleaseResult result, Duration held) {
        // One that was lost meanwhile is told as lost.
        if (result != ReleaseResult.ALREADY_LOST) {
            hold(acquisition, text(result), held);
        }
    }

    @Override
    public void lost(Acquisition acquisition, Loss loss, Duration held) {
        hold(acquisition, "lost", held);
        Key key = new Key("holdfast.lock.lost", lockTag.of(acquisition.lock()), text(loss.reason()), "");
        counter(key, "Leases lost", it -> Tags.of("lock", it.first, "reason", it.second))
                .increment();
        dropIfClosed();
    }

    private void hold(Acquisition acquisition, String outcome, Duration held) {
        Key key = new Key("holdfast.lock.hold", lockTag.of(acquisition.lock()), outcome, "");
        timer(key, "Time a lock was held", it -> Tags.of("lock", it.first, "outcome", it.second))
                .record(held);
        dropIfClosed();
    }

    @Override
    public void renewed(Acquisition acquisition) {
        renewal("renewed");
    }

    @Override
    public void renewalFailed(Acquisition acquisition, Duration stillValidFor, Throwable cause) {
        renewal("failed");
    }

    private void renewal(String outcome) {
        counter(
                        new Key("holdfast.lease.renewal", outcome, "", ""),
                        "Renewals of leases",
                        it -> Tags.of("outcome", it.first))
                .increment();
        dropIfClosed();
    }

    @Override
    public void requested(StoreOperation operation, Duration took, @Nullable Throwable failure) {
        Key key = new Key("holdfast.store.request", text(operation), failure == null ? "answered" : "failed", "");
        timer(key, "Requests to the store", it -> Tags.of("operation", it.first, "outcome", it.second))
                .record(took);
        dropIfClosed();
    }

    @Override
    public void closed(Holdfast ended) {
        closed = true;
        dropIfClosed();
    }

    /** What was recorded after the end, a loss that was told late, must not bring a meter back. */
    private void dropIfClosed() {
        if (closed) {
            meters.keySet().forEach(key -> {
                Meter meter = meters.remove(key);
                if (meter != null) {
                    registry.remove(meter);
                }
            });
        }
    }

    private void gauge(String name, String description, ToDoubleFunction<LockStatistics> value) {
        Holdfast observed = Objects.requireNonNull(client);
        meters.put(
                new Key(name, "", "", ""),
                Gauge.builder(name, observed, it -> value.applyAsDouble(it.statistics()))
                        .description(description)
                        .tags(store())
                        .register(registry));
    }

    private Timer timer(Key key, String description, Function<Key, Tags> tags) {
        return (Timer) meter(key, it -> {
            Timer.Builder builder = Timer.builder(it.meter)
                    .description(description)
                    .tags(tags.apply(it).and(store()));
            if (histogram == Histogram.PUBLISHED) {
                builder.publishPercentileHistogram();
            }
            return builder.register(registry);
        });
    }

    private Counter counter(Key key, String description, Function<Key, Tags> tags) {
        return (Counter) meter(
                key,
                it -> Counter.builder(it.meter)
                        .description(description)
                        .tags(tags.apply(it).and(store()))
                        .register(registry));
    }

    private Meter meter(Key key, Function<Key, Meter> make) {
        Meter known = meters.get(key);
        return known != null ? known : meters.computeIfAbsent(key, make);
    }

    private Tags store() {
        Holdfast observed = client;
        return Tags.of("store", storeTag != null ? storeTag : observed == null ? "unknown" : observed.store());
    }

    private static String demand(Demand demand) {
        if (demand instanceof Demand.Permits) {
            return "permits";
        }
        return demand instanceof Demand.Shared ? "shared" : "exclusive";
    }

    private static String text(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
