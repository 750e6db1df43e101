package io.holdfast;

import io.holdfast.internal.Client;
import io.holdfast.internal.Settings;
import io.holdfast.internal.Stores;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockObserver;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a {@link Holdfast} client.
 *
 * <p>Essential: {@link #store(String) store}. Often wanted: {@link #name}, {@link #defaults}, {@link #listener}. Rarely:
 * the rest. Not thread-safe.
 */
public final class HoldfastBuilder {

    private final List<LockListener> listeners = new ArrayList<>();
    private final List<LockObserver> observers = new ArrayList<>();
    private @Nullable StoreFactory store;
    private @Nullable String uri;
    private @Nullable String name;
    private @Nullable Executor executor;
    private LockOptions defaults = LockOptions.defaults();
    private Duration requestTimeout = Duration.ofSeconds(5);
    private Duration closeTimeout = Duration.ofSeconds(5);
    private Duration longWait = Duration.ofMinutes(1);
    private int maxHandoffs = 64;
    private Duration maxHandoffTime = Duration.ofMillis(20);
    private TimeSource time = TimeSource.system();

    HoldfastBuilder() {}

    /** The store by its URI. */
    public HoldfastBuilder store(String storeUri) {
        this.uri = Objects.requireNonNull(storeUri, "uri");
        this.store = null;
        return this;
    }

    /** The store by its entry class, around a client object you already have. */
    public HoldfastBuilder store(StoreFactory factory) {
        this.store = Objects.requireNonNull(factory, "store");
        this.uri = null;
        return this;
    }

    /** What people see as the holder; by default the host name and process id. */
    public HoldfastBuilder name(String clientName) {
        this.name = Objects.requireNonNull(clientName, "name");
        return this;
    }

    /** Options of locks for which none are given. */
    public HoldfastBuilder defaults(LockOptions options) {
        this.defaults = Objects.requireNonNull(options, "defaults");
        return this;
    }

    public HoldfastBuilder listener(LockListener listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
        return this;
    }

    /** Sees what the client does on the very threads that do it: for metrics and traces. */
    public HoldfastBuilder observer(LockObserver observer) {
        observers.add(Objects.requireNonNull(observer, "observer"));
        return this;
    }

    /**
     * Where listeners and callbacks of losses run; by default virtual threads, or a few daemons before Java 21. Nothing of the
     * engine runs there or waits for it, and what it rejects runs on the client's own threads. Futures complete on those too,
     * since threads of this executor may wait for them: use {@code thenApplyAsync} and its like to go on elsewhere.
     */
    public HoldfastBuilder executor(Executor newExecutor) {
        this.executor = Objects.requireNonNull(newExecutor, "executor");
        return this;
    }

    /** How long a single request to the store may take. A caller's own deadline cuts it shorter. Default 5 s. */
    public HoldfastBuilder requestTimeout(Duration timeout) {
        this.requestTimeout = positive(timeout, "requestTimeout");
        return this;
    }

    /** How long {@link Holdfast#close} may take to release what is held. Default 5 s. */
    public HoldfastBuilder closeTimeout(Duration timeout) {
        this.closeTimeout = positive(timeout, "closeTimeout");
        return this;
    }

    /** After how long a wait is logged with the name of the holder. Default 1 min. */
    public HoldfastBuilder longWait(Duration wait) {
        this.longWait = positive(wait, "longWait");
        return this;
    }

    /**
     * How often, and for how long, threads of this client may hand a lock on among themselves before it goes back to
     * the store. More is faster here and less fair to other clients; 0 handoffs turns it off. Default 64 and 20 ms.
     */
    public HoldfastBuilder localHandoff(int most, Duration longest) {
        if (most < 0 || most > 1023) {
            throw new IllegalArgumentException("local handoffs must be between 0 and 1023, not " + most);
        }
        this.maxHandoffs = most;
        this.maxHandoffTime = positive(longest, "longest");
        return this;
    }

    /** The clock by which leases are judged: for tests. */
    public HoldfastBuilder time(TimeSource source) {
        this.time = Objects.requireNonNull(source, "time");
        return this;
    }

    public Holdfast connect() {
        Settings settings = new Settings(
                store != null ? store : Stores.named(uri),
                name != null ? name : Settings.defaultClientName(),
                defaults,
                List.copyOf(listeners),
                List.copyOf(observers),
                Optional.ofNullable(executor),
                requestTimeout,
                closeTimeout,
                longWait,
                maxHandoffs,
                maxHandoffTime,
                time);
        return new Client(settings).connected();
    }

    private static Duration positive(Duration duration, String what) {
        Objects.requireNonNull(duration, what);
        if (duration.isNegative() || duration.isZero()) {
            throw new IllegalArgumentException(what + " must be positive, not " + DurationText.of(duration));
        }
        return duration;
    }
}
