package io.holdfast.spring.plan;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.Fairness;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnConflict;
import io.holdfast.spring.OnLost;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What an annotation on a method asks for, read once. Immutable.
 *
 * @param waitAtMost empty: as long as it takes
 * @param fallback only with {@link OnConflict#FALLBACK}
 * @param lingering whether {@code minHold} is given up where the store cannot linger
 */
public record LockPlan(
        Method method,
        List<NameTemplate> names,
        Optional<Duration> waitAtMost,
        OnConflict onConflict,
        Optional<Method> fallback,
        OnLost onLost,
        Locked.Mode mode,
        int permits,
        int of,
        Optional<Duration> ttl,
        Optional<Duration> minHold,
        Optional<Duration> maxHold,
        @Nullable Fairness fairness,
        boolean fence,
        String client,
        Lingering lingering,
        Begins begins) {

    /** What a call of the method comes from. */
    public enum Begins {
        BY_CALL,
        BY_SCHEDULE
    }

    /** What to do where the store cannot keep a released lock taken. */
    public enum Lingering {
        REQUIRED,
        IF_POSSIBLE
    }

    public String describe() {
        return NameTemplate.describe(method);
    }

    LockPlan withoutMinHold() {
        return new LockPlan(
                method,
                names,
                waitAtMost,
                onConflict,
                fallback,
                onLost,
                mode,
                permits,
                of,
                ttl,
                Optional.empty(),
                maxHold,
                fairness,
                fence,
                client,
                lingering,
                begins);
    }

    public Demand demand() {
        if (of > 0) {
            return Demand.permits(permits, of);
        }
        return mode == Locked.Mode.SHARED ? Demand.shared() : Demand.exclusive();
    }

    /** The locks of these names on that client. */
    public Acquirable<? extends Hold> locks(Holdfast holdfast, List<String> resolved) {
        LockOptions options = options(holdfast.lock(resolved.get(0)).options());
        if (resolved.size() > 1) {
            return holdfast.lockAll(resolved, options);
        }
        String name = resolved.get(0);
        if (of > 0) {
            return holdfast.semaphore(name, of, options).permits(permits);
        }
        return mode == Locked.Mode.SHARED
                ? holdfast.readWriteLock(name, options).readLock()
                : holdfast.lock(name, options);
    }

    private LockOptions options(LockOptions defaults) {
        LockOptions options = defaults;
        if (ttl.isPresent()) {
            options = options.withTtl(ttl.get());
        }
        if (minHold.isPresent()) {
            options = options.withMinHold(minHold.get());
        }
        if (maxHold.isPresent()) {
            options = options.withMaxHold(maxHold.get());
        }
        return fairness == null || fairness == Fairness.BALANCED ? options : options.withFairness(fairness);
    }
}
