package io.holdfast.spring.call;

import io.holdfast.spring.plan.LockPlans;
import io.holdfast.spring.plan.NameTemplate;
import java.lang.reflect.Method;
import org.aopalliance.aop.Advice;
import org.springframework.aop.ClassFilter;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * Puts an interceptor before all others of a bean with locked methods, so outside of its transactions, or after all others, so inside
 * of them.
 */
public final class LockedPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

    private static final long serialVersionUID = 1L;

    /** Where among the interceptors of a bean. */
    public enum Position {
        OUTERMOST,
        INNERMOST
    }

    public LockedPostProcessor(Advice advice, Position position, int order) {
        setBeforeExistingAdvisors(position == Position.OUTERMOST);
        setProxyTargetClass(true);
        setOrder(order);
        this.advisor = new DefaultPointcutAdvisor(new LockedMethods(), advice);
    }

    /** Methods with one of the annotations. */
    static final class LockedMethods extends StaticMethodMatcherPointcut {

        LockedMethods() {
            setClassFilter(new ClassFilter() {
                @Override
                public boolean matches(Class<?> type) {
                    return LockPlans.mayHaveLockedMethods(type);
                }
            });
        }

        @Override
        public boolean matches(Method method, Class<?> targetClass) {
            return LockPlans.isAnnotated(NameTemplate.mostSpecific(method, targetClass));
        }
    }
}
