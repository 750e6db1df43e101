package io.holdfast.spring.config;

import io.holdfast.spring.call.LockedInterceptor;
import io.holdfast.spring.call.LockedPostProcessor;
import io.holdfast.spring.call.ScheduledRuns;
import io.holdfast.spring.plan.LockPlans;
import io.holdfast.spring.plan.LockTemplates;
import io.holdfast.spring.start.LockedMethodsCheck;
import io.holdfast.spring.transaction.InsideTransactionInterceptor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Makes {@code @Locked} and {@code @ScheduledLock} work: imported by {@code @EnableHoldfast} and by the Spring Boot starter.
 *
 * <p>The property {@code holdfast.locked.order} moves the lock among post-processors that add interceptors to beans; by default it
 * is outside of transactions and inside of {@code @Async}.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public class HoldfastLocking {

    /** Before the post-processor of {@code @Async}, which so comes to be outside of the lock. */
    private static final int ORDER = Ordered.LOWEST_PRECEDENCE - 10;

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockPlans holdfastLockPlans(ConfigurableListableBeanFactory beans) {
        return new LockPlans(beans);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedPostProcessor holdfastLockedPostProcessor(
            LockPlans plans,
            ConfigurableListableBeanFactory beans,
            ObjectProvider<ScheduledRuns> scheduledRuns,
            Environment environment) {
        return new LockedPostProcessor(
                new LockedInterceptor(plans, beans, scheduledRuns),
                LockedPostProcessor.Position.OUTERMOST,
                order(environment));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedPostProcessor holdfastInsideTransactionPostProcessor(
            LockPlans plans, ConfigurableListableBeanFactory beans, Environment environment) {
        return new LockedPostProcessor(
                new InsideTransactionInterceptor(plans, beans),
                LockedPostProcessor.Position.INNERMOST,
                order(environment));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ScheduledRuns holdfastScheduledRuns() {
        return new ScheduledRuns();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockTemplates holdfastLockTemplates(LockPlans plans) {
        return new LockTemplates(plans);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedMethodsCheck holdfastLockedMethodsCheck(
            ConfigurableListableBeanFactory beans, LockPlans plans, LockTemplates templates) {
        return new LockedMethodsCheck(beans, plans, templates);
    }

    private static int order(Environment environment) {
        return environment.getProperty("holdfast.locked.order", Integer.class, ORDER);
    }
}
