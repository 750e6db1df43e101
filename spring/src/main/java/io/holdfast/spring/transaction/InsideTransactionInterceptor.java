package io.holdfast.spring.transaction;

import io.holdfast.Lease;
import io.holdfast.spring.OnLost;
import io.holdfast.spring.held.Held;
import io.holdfast.spring.held.HeldByThread;
import io.holdfast.spring.plan.LockPlan;
import io.holdfast.spring.plan.LockPlans;
import java.util.Objects;
import java.util.Optional;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Ties the transaction of a locked method to its lease: the innermost interceptor of a bean, so that the method's own transaction
 * has begun. Thread-safe.
 */
public final class InsideTransactionInterceptor implements MethodInterceptor {

    private final LockPlans plans;
    private final ConfigurableListableBeanFactory beans;

    public InsideTransactionInterceptor(LockPlans plans, ConfigurableListableBeanFactory beans) {
        this.plans = plans;
        this.beans = beans;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Class<?> type = LockPlans.typeOf(Objects.requireNonNull(invocation.getThis()));
        Optional<LockPlan> plan = plans.of(invocation.getMethod(), type);
        Optional<Held> held = HeldByThread.innermost();
        if (plan.isPresent() && held.isPresent()) {
            if (Transactions.isOpen() && plan.get().onLost() != OnLost.IGNORE) {
                Transactions.commitOnlyWith(held.get());
            }
            if (plan.get().fence()) {
                fence(plan.get(), held.get().leases().get(0));
            }
        }
        return invocation.proceed();
    }

    private void fence(LockPlan plan, Lease lease) {
        if (!Transactions.isOpen()) {
            throw new IllegalStateException(
                    plan.describe()
                            + " has fence = true but runs in no transaction, in which a fence guards nothing: make it @Transactional.");
        }
        FenceCheck.check(beans, lease);
    }
}
