package io.holdfast.spring;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.MultiLease;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/** Takes the lock of a method, runs the method, releases the lock. Thread-safe. */
final class LockedInterceptor implements MethodInterceptor {

    private static final Logger LOG = System.getLogger(LockedInterceptor.class.getName());

    private final LockPlans plans;
    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<ScheduledRuns> scheduledRuns;

    LockedInterceptor(
            LockPlans plans, ConfigurableListableBeanFactory beans, ObjectProvider<ScheduledRuns> scheduledRuns) {
        this.plans = plans;
        this.beans = beans;
        this.scheduledRuns = scheduledRuns;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = Objects.requireNonNull(invocation.getThis());
        Optional<LockPlan> found = plans.of(invocation.getMethod(), target.getClass());
        if (found.isEmpty()) {
            return invocation.proceed();
        }
        LockPlan plan = found.get();
        if (plan.begins() == LockPlan.Begins.BY_SCHEDULE
                && !scheduledRuns.getObject().mayBegin()) {
            LOG.log(Level.INFO, "{0} is skipped: the application stops", plan.describe());
            return null;
        }
        Holdfast client = plans.client(plan);
        List<String> names = plan.names().stream()
                .map(template -> template.name(target, invocation.getArguments(), beans))
                .distinct()
                .toList();
        LockedCall call = new LockedCall(plan, client, names, target, invocation);
        boolean returnsStage =
                CompletionStage.class.isAssignableFrom(invocation.getMethod().getReturnType());
        Optional<CurrentLease.Held> outer = heldAlready(plan, client, names);
        if (outer.isPresent()) {
            return returnsStage
                    ? new AsynchronousCall(call).startUnder(outer.get().addUser())
                    : runUnder(outer.get(), invocation);
        }
        return returnsStage ? new AsynchronousCall(call).start() : run(call);
    }

    private static @Nullable Object runUnder(CurrentLease.Held outer, MethodInvocation invocation) throws Throwable {
        fillIn(invocation.getArguments(), invocation.getMethod(), outer.hold());
        CurrentLease.enter(outer);
        try {
            return invocation.proceed();
        } finally {
            CurrentLease.leave();
        }
    }

    /** What the calling thread holds of these locks, if it is all of them. */
    private static Optional<CurrentLease.Held> heldAlready(LockPlan plan, Holdfast client, List<String> names) {
        List<CurrentLease.Held> held = new ArrayList<>();
        names.forEach(name -> CurrentLease.of(client, name).ifPresent(held::add));
        if (held.isEmpty()) {
            return Optional.empty();
        }
        if (held.size() < names.size()) {
            throw new IllegalStateException(
                    "This thread holds some of the locks " + names + " of " + plan.describe()
                            + " already, and waiting for the others could last for ever: take all of them in the outer method.");
        }
        if (plan.mode() == Locked.Mode.EXCLUSIVE && held.get(0).mode() == Locked.Mode.SHARED) {
            throw new IllegalStateException(
                    "This thread holds lock '" + names.get(0) + "' shared, so " + plan.describe()
                            + " would wait for itself to have it alone: take it exclusively in the outer method.");
        }
        held.get(0).hold().requireValid();
        return Optional.of(held.get(0));
    }

    private @Nullable Object run(LockedCall call) throws Throwable {
        Optional<? extends Hold> got;
        try {
            got = call.acquire();
        } catch (InterruptedException e) {
            if (Arrays.stream(call.method().getExceptionTypes())
                    .anyMatch(type -> type.isAssignableFrom(InterruptedException.class))) {
                throw e;
            }
            Thread.currentThread().interrupt();
            throw new IllegalStateException(
                    "Interrupted while waiting for locks " + call.names() + "; "
                            + call.plan().describe() + " did not run.",
                    e);
        }
        return got.isEmpty() ? call.conflict() : runWith(got.get(), call);
    }

    private @Nullable Object runWith(Hold hold, LockedCall call) throws Throwable {
        boolean inTransaction = Transactions.isOpen();
        Interruption interruption = new Interruption();
        CurrentLease.Held held =
                new CurrentLease.Held(call.client(), hold, call.plan().mode());
        try {
            if (inTransaction) {
                Transactions.whenEnded(() -> {
                    CurrentLease.endOfTransaction(held);
                    held.release();
                });
                CurrentLease.keep(held);
            }
            if (call.plan().onLost() == OnLost.INTERRUPT) {
                hold.onLost(loss -> interruption.interrupt());
            }
            fillIn(call.invocation().getArguments(), call.method(), hold);
            CurrentLease.enter(held);
            @Nullable Object result;
            try {
                result = call.invocation().proceed();
            } catch (Throwable e) {
                throw interruption.end() && isInterruption(e) ? lossWith(hold, e) : e;
            } finally {
                interruption.end();
                CurrentLease.leave();
            }
            if (call.plan().onLost() != OnLost.IGNORE) {
                hold.requireValid();
            }
            return result;
        } finally {
            if (!inTransaction) {
                held.release();
            }
        }
    }

    private static Throwable lossWith(Hold hold, Throwable interruption) {
        try {
            hold.requireValid();
            return interruption;
        } catch (LeaseLostException lost) {
            lost.addSuppressed(interruption);
            return lost;
        }
    }

    private static boolean isInterruption(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException) {
                return true;
            }
        }
        return false;
    }

    static void fillIn(@Nullable Object[] arguments, Method method, Hold hold) {
        Class<?>[] types = method.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            if (types[i] == Lease.class) {
                arguments[i] =
                        hold instanceof MultiLease several ? several.leases().get(0) : hold;
            } else if (types[i] == MultiLease.class && hold instanceof MultiLease) {
                arguments[i] = hold;
            }
        }
    }

    /** Interrupts the thread it was made on, until the end is marked; an interrupt that came before does not outlast it. */
    private static final class Interruption {

        private enum State {
            RUNNING,
            INTERRUPTED,
            OVER
        }

        private final Thread thread = Thread.currentThread();
        private State state = State.RUNNING; // guarded by this

        synchronized void interrupt() {
            if (state == State.RUNNING) {
                state = State.INTERRUPTED;
                thread.interrupt();
            }
        }

        /** Whether it interrupted. */
        synchronized boolean end() {
            boolean interrupted = state == State.INTERRUPTED;
            if (interrupted) {
                Thread.interrupted();
            }
            state = State.OVER;
            return interrupted;
        }
    }
}
