package io.holdfast.bench;

import io.holdfast.DistributedLock;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.Waiting;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Holdfast itself. Settings: {@code uri}, and {@code mode}, a {@link Mode} in lower case. Thread-safe. */
public final class HoldfastContender implements Contender {

    /** The ways to wait that the bench compares. */
    public enum Mode {
        /** The defaults: the store's queue, and handing on among the threads of one JVM. */
        QUEUED("queued"),
        /** Asking again and again. */
        POLLING("polling"),
        /** Every acquisition has its own ticket in the store's queue. */
        FIFO("strict order"),
        /** As the defaults, but every release goes to the store. For stores without tickets. */
        UNSHARED("no local handoff");

        public final String title;

        Mode(String title) {
            this.title = title;
        }

        public String key() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private final Holdfast holdfast;
    private final LockOptions options;

    private HoldfastContender(Holdfast holdfast, LockOptions options) {
        this.holdfast = holdfast;
        this.options = options;
    }

    /** Connects to the store. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) {
            Mode mode = Mode.valueOf(settings.getOrDefault("mode", "queued").toUpperCase(Locale.ROOT));
            HoldfastBuilder builder = Holdfast.builder()
                    .store(settings.get("uri"))
                    // Several JVMs start at once, and on a busy machine that takes its time.
                    .requestTimeout(Duration.ofSeconds(20));
            LockOptions options = LockOptions.defaults().withTtl(TTL);
            switch (mode) {
                case QUEUED -> {}
                case POLLING -> options = options.withWaiting(Waiting.poll());
                case FIFO -> options = options.withFairness(Fairness.FIFO);
                case UNSHARED -> builder.localHandoff(0, Duration.ofMillis(20));
            }
            Holdfast holdfast = builder.connect();
            try {
                holdfast.lock("holdfast-bench/check", options).inspect();
            } catch (RuntimeException e) {
                holdfast.close();
                throw e;
            }
            return new HoldfastContender(holdfast, options);
        }
    }

    @Override
    public Mutex mutex(String name) {
        DistributedLock lock = holdfast.lock(name, options);
        return () -> new HeldLease(lock.acquire());
    }

    @Override
    public boolean isFree(String name) {
        Optional<Lease> lease = holdfast.lock(name, options).tryAcquire();
        lease.ifPresent(Lease::close);
        return lease.isPresent();
    }

    @Override
    public void close() {
        holdfast.close();
    }

    private record HeldLease(Lease lease) implements Held {

        @Override
        public void release() {
            lease.close();
        }

        @Override
        public boolean isValid() {
            return lease.isValid();
        }
    }
}
