package io.holdfast.spring.call;

import io.holdfast.Acquirable;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.MultiLease;
import io.holdfast.spi.DurationText;
import io.holdfast.spring.LockConflictException;
import io.holdfast.spring.held.Held;
import io.holdfast.spring.plan.LockPlan;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.core.ResolvableType;

/** One call of a method with its lock. */
record LockedCall(LockPlan plan, Holdfast client, List<String> names, Object target, MethodInvocation invocation) {

    private static final Logger LOG = System.getLogger(LockedCall.class.getName());

    private static final Map<Class<?>, Object> EMPTY = Map.of(
            Optional.class, Optional.empty(),
            OptionalInt.class, OptionalInt.empty(),
            OptionalLong.class, OptionalLong.empty(),
            OptionalDouble.class, OptionalDouble.empty());

    Method method() {
        return plan.method();
    }

    Acquirable<? extends Hold> locks() {
        return plan.locks(client, names);
    }

    Optional<? extends Hold> acquire() throws InterruptedException {
        if (plan.waitAtMost().isEmpty()) {
            return Optional.of(locks().acquire());
        }
        Duration limit = plan.waitAtMost().get();
        return limit.isZero() ? locks().tryAcquire() : locks().tryAcquire(limit);
    }

    /** Cancelling it leaves the queue. */
    CompletableFuture<? extends Optional<? extends Hold>> acquireAsync() {
        if (plan.waitAtMost().isEmpty()) {
            return optional(locks().acquireAsync());
        }
        Duration limit = plan.waitAtMost().get();
        return limit.isZero() ? locks().tryAcquireAsync() : locks().tryAcquireAsync(limit);
    }

    /** Cancelling a dependent stage does not cancel what it depends on: that would get the lock later, for nobody. */
    private static <H extends Hold> CompletableFuture<Optional<H>> optional(CompletableFuture<H> asked) {
        CompletableFuture<Optional<H>> got = asked.thenApply(Optional::of);
        got.whenComplete((hold, failure) -> {
            if (got.isCancelled()) {
                asked.cancel(true);
                asked.thenAccept(Hold::releaseAsync);
            }
        });
        return got;
    }

    /** What was acquired, as what the method runs under. */
    Held held(Hold hold) {
        List<Lease> leases = hold instanceof MultiLease several
                ? several.leases().stream()
                        .sorted(Comparator.comparingInt(lease -> names.indexOf(lease.name())))
                        .toList()
                : List.of((Lease) hold);
        return Held.acquired(client, plan.demand(), hold, leases);
    }

    /** What the call returns, or throws, that did not get its lock. */
    @Nullable
    Object conflict() throws Throwable {
        switch (plan.onConflict()) {
            case SKIP:
                LOG.log(Level.DEBUG, "{0} is skipped: others hold {1}", plan.describe(), names);
                return nothing(ResolvableType.forMethodReturnType(method()));
            case FALLBACK:
                return callFallback(plan.fallback().orElseThrow());
            default:
                throw conflictException();
        }
    }

    private static @Nullable Object nothing(ResolvableType type) {
        Class<?> returned = type.resolve(Object.class);
        if (CompletionStage.class.isAssignableFrom(returned)) {
            return CompletableFuture.completedFuture(
                    nothing(type.as(CompletionStage.class).getGeneric()));
        }
        return EMPTY.get(returned);
    }

    private @Nullable Object callFallback(Method fallback) throws Throwable {
        List<@Nullable Object> arguments = new ArrayList<>();
        for (int i = 0; i < method().getParameterCount(); i++) {
            if (method().getParameterTypes()[i] != Lease.class) {
                arguments.add(invocation.getArguments()[i]);
            }
        }
        if (fallback.getParameterCount() > arguments.size()) {
            arguments.add(conflictException());
        }
        try {
            return fallback.invoke(target, arguments.toArray());
        } catch (InvocationTargetException e) {
            throw e.getTargetException();
        }
    }

    private LockConflictException conflictException() {
        String waited = plan.waitAtMost()
                .filter(limit -> !limit.isZero())
                .map(limit -> " for " + DurationText.of(limit))
                .orElse("");
        return new LockConflictException(names, plan.describe(), waited);
    }

    /** The method is run by another thread, for which an invocation must be copied. */
    LockedCall copy() {
        return new LockedCall(plan, client, names, target, ((ProxyMethodInvocation) invocation).invocableClone());
    }
}
