package io.holdfast.spring.boot;

import io.holdfast.Fairness;
import io.holdfast.LockOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Settings of one client. */
public class ClientProperties {

    /** Address of the lock store, such as redis://localhost:6379. */
    private @Nullable String store;

    /** Name of this instance, as others see it as a holder; by default host and process id. */
    private @Nullable String name;

    /** How long a single request to the store may take. */
    private Duration requestTimeout = Duration.ofSeconds(5);

    /** How long closing the client may take to release what is held. */
    private Duration closeTimeout = Duration.ofSeconds(5);

    /** Whether to ask the store at start and to fail if it does not answer. */
    private boolean ping;

    private final Defaults defaults = new Defaults();
    private final LocalHandoff localHandoff = new LocalHandoff();
    private final Jdbc jdbc = new Jdbc();

    public @Nullable String getStore() {
        return store;
    }

    public void setStore(@Nullable String store) {
        this.store = store;
    }

    public @Nullable String getName() {
        return name;
    }

    public void setName(@Nullable String name) {
        this.name = name;
    }

    public Duration getRequestTimeout() {
        return requestTimeout;
    }

    public void setRequestTimeout(Duration requestTimeout) {
        this.requestTimeout = requestTimeout;
    }

    public Duration getCloseTimeout() {
        return closeTimeout;
    }

    public void setCloseTimeout(Duration closeTimeout) {
        this.closeTimeout = closeTimeout;
    }

    public boolean isPing() {
        return ping;
    }

    public void setPing(boolean ping) {
        this.ping = ping;
    }

    public Defaults getDefaults() {
        return defaults;
    }

    public LocalHandoff getLocalHandoff() {
        return localHandoff;
    }

    public Jdbc getJdbc() {
        return jdbc;
    }

    /** Options of locks for which none are given. */
    public static class Defaults {

        /** How long the store keeps the lock of a holder it no longer hears from. */
        private Duration ttl = LockOptions.defaults().ttl();

        /** How long a lock stays taken at least. */
        private @Nullable Duration minHold;

        /** After how long a lease is given up. */
        private @Nullable Duration maxHold;

        /** In which order those who wait are served. */
        private Fairness fairness = Fairness.BALANCED;

        public Duration getTtl() {
            return ttl;
        }

        public void setTtl(Duration ttl) {
            this.ttl = ttl;
        }

        public @Nullable Duration getMinHold() {
            return minHold;
        }

        public void setMinHold(@Nullable Duration minHold) {
            this.minHold = minHold;
        }

        public @Nullable Duration getMaxHold() {
            return maxHold;
        }

        public void setMaxHold(@Nullable Duration maxHold) {
            this.maxHold = maxHold;
        }

        public Fairness getFairness() {
            return fairness;
        }

        public void setFairness(Fairness fairness) {
            this.fairness = fairness;
        }

        LockOptions options() {
            LockOptions options = LockOptions.defaults().withTtl(ttl).withFairness(fairness);
            if (minHold != null && !minHold.isZero()) {
                options = options.withMinHold(minHold);
            }
            return maxHold == null ? options : options.withMaxHold(maxHold);
        }
    }

    /** How threads of this client hand a lock on among themselves. */
    public static class LocalHandoff {

        /** How often before it goes back to the store; 0 turns it off. */
        private int most = 64;

        /** For how long before it goes back to the store. */
        private Duration longest = Duration.ofMillis(20);

        public int getMost() {
            return most;
        }

        public void setMost(int most) {
            this.most = most;
        }

        public Duration getLongest() {
            return longest;
        }

        public void setLongest(Duration longest) {
            this.longest = longest;
        }
    }

    /** Settings for a lock store in the application's database. */
    public static class Jdbc {

        /** Whether to create the table of locks if it is missing. */
        private boolean initializeSchema;

        public boolean isInitializeSchema() {
            return initializeSchema;
        }

        public void setInitializeSchema(boolean initializeSchema) {
            this.initializeSchema = initializeSchema;
        }
    }
}
