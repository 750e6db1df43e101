package io.holdfast.spring.boot;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;

/** Settings below {@code holdfast}. */
@ConfigurationProperties("holdfast")
public class HoldfastProperties extends ClientProperties {

    /** Further clients by the names of their beans, each with a store of its own. */
    private final Map<String, ClientProperties> clients = new LinkedHashMap<>();

    private final Locked locked = new Locked();
    private final Metrics metrics = new Metrics();
    private final Tracing tracing = new Tracing();

    public Map<String, ClientProperties> getClients() {
        return clients;
    }

    public Locked getLocked() {
        return locked;
    }

    public Metrics getMetrics() {
        return metrics;
    }

    public Tracing getTracing() {
        return tracing;
    }

    /** Settings of {@code @Locked} and {@code @ScheduledLock}. */
    public static class Locked {

        /** Whether the annotations are looked at. */
        private boolean enabled = true;

        /** Order of the post-processor that adds the lock to beans; by default inside of @Async, outside of transactions. */
        private @Nullable Integer order;

        public boolean isEnabled() {
            return enabled;
        }

        public void setEnabled(boolean enabled) {
            this.enabled = enabled;
        }

        public @Nullable Integer getOrder() {
            return order;
        }

        public void setOrder(@Nullable Integer order) {
            this.order = order;
        }
    }

    /** Settings of the meters. */
    public static class Metrics {

        /** Whether to publish buckets for percentiles, which cost many time series. */
        private boolean histograms;

        public boolean isHistograms() {
            return histograms;
        }

        public void setHistograms(boolean histograms) {
            this.histograms = histograms;
        }
    }

    /** Settings of the spans. */
    public static class Tracing {

        /** How long an acquisition takes at least of which there is a span though it succeeded. */
        private Duration waitedAtLeast = Duration.ofMillis(10);

        public Duration getWaitedAtLeast() {
            return waitedAtLeast;
        }

        public void setWaitedAtLeast(Duration waitedAtLeast) {
            this.waitedAtLeast = waitedAtLeast;
        }
    }
}
