package io.holdfast.spring.call;

import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.MultiLease;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.held.Held;
import io.holdfast.spring.held.HeldByThread;
import io.holdfast.spring.plan.LockPlan;
import io.holdfast.spring.plan.LockPlans;
import io.holdfast.spring.transaction.Transactions;
import java.io.InterruptedIOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.reflect.Method;
import java.nio.channels.ClosedByInterruptException;
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
public final class LockedInterceptor implements MethodInterceptor {

    private static final Logger LOG = System.getLogger(LockedInterceptor.class.getName());

    private final LockPlans plans;
    private final ConfigurableListableBeanFactory beans;
    private final ObjectProvider<ScheduledRuns> scheduledRuns;

    public LockedInterceptor(
            LockPlans plans, ConfigurableListableBeanFactory beans, ObjectProvider<ScheduledRuns> scheduledRuns) {
        this.plans = plans;
        this.beans = beans;
        this.scheduledRuns = scheduledRuns;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = Objects.requireNonNull(invocation.getThis());
        Optional<LockPlan> found = plans.of(invocation.getMethod(), LockPlans.typeOf(target));
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
                CompletionStage.class.isAssignableFrom(plan.method().getReturnType());
        Optional<Held> already = Reentry.of(call);
        if (already.isPresent()) {
            return returnsStage
                    ? new AsynchronousCall(call).startUnder(already.get())
                    : runUnder(already.get(), invocation);
        }
        return returnsStage ? new AsynchronousCall(call).start() : run(call);
    }

    private static @Nullable Object runUnder(Held held, MethodInvocation invocation) throws Throwable {
        fillIn(invocation.getArguments(), invocation.getMethod(), held);
        HeldByThread.enter(held);
        try {
            return invocation.proceed();
        } finally {
            HeldByThread.leave();
            held.release();
        }
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
        return got.isEmpty() ? call.conflict() : runWith(call.held(got.get()), call);
    }

    private @Nullable Object runWith(Held held, LockedCall call) throws Throwable {
        boolean inTransaction = Transactions.isOpen();
        Interruption interruption = new Interruption();
        try {
            if (inTransaction) {
                Transactions.whenEnded(() -> {
                    HeldByThread.endOfTransaction(held);
                    held.release();
                });
                HeldByThread.keep(held);
            }
            if (call.plan().onLost() == OnLost.INTERRUPT) {
                held.onLost(loss -> interruption.interrupt());
            }
            fillIn(call.invocation().getArguments(), call.method(), held);
            HeldByThread.enter(held);
            @Nullable Object result;
            try {
                result = call.invocation().proceed();
            } catch (Throwable e) {
                throw interruption.end() && isInterruption(e) ? lossWith(held, e) : e;
            } finally {
                interruption.end();
                HeldByThread.leave();
            }
            if (call.plan().onLost() != OnLost.IGNORE) {
                held.requireValid();
            }
            return result;
        } finally {
            if (!inTransaction) {
                held.release();
            }
        }
    }

    private static Throwable lossWith(Held held, Throwable interruption) {
        try {
            held.requireValid();
            return interruption;
        } catch (LeaseLostException lost) {
            lost.addSuppressed(interruption);
            return lost;
        }
    }

    /** As it shows when it hits a wait, or blocking input or output. */
    private static boolean isInterruption(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException
                    || cause instanceof ClosedByInterruptException
                    || cause instanceof InterruptedIOException) {
                return true;
            }
        }
        return false;
    }

    static void fillIn(@Nullable Object[] arguments, Method method, Held held) {
        Class<?>[] types = method.getParameterTypes();
        for (int i = 0; i < types.length; i++) {
            if (types[i] == Lease.class) {
                arguments[i] = held.leases().get(0);
            } else if (types[i] == MultiLease.class && held.hold() instanceof MultiLease several) {
                arguments[i] = several;
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
