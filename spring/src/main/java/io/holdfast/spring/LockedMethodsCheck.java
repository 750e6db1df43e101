package io.holdfast.spring;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.springframework.aop.framework.Advised;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;

/** Looks at all annotated methods of all beans when the application starts: a lock that is not taken shows nowhere later. */
final class LockedMethodsCheck implements SmartInitializingSingleton {

    private final ConfigurableListableBeanFactory beans;
    private final LockPlans plans;

    LockedMethodsCheck(ConfigurableListableBeanFactory beans, LockPlans plans) {
        this.beans = beans;
        this.plans = plans;
    }

    @Override
    public void afterSingletonsInstantiated() {
        for (String bean : beans.getBeanDefinitionNames()) {
            Class<?> type = beans.getType(bean, false);
            if (type != null && LockedPostProcessor.mayHaveLockedMethods(type)) {
                check(bean, ClassUtils.getUserClass(type));
            }
        }
    }

    private void check(String bean, Class<?> type) {
        Map<Method, Boolean> methods =
                MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<Boolean>)
                        method -> LockPlans.isAnnotated(method) ? true : null);
        for (Method method : methods.keySet()) {
            Optional<LockPlan> plan = plans.of(method, type);
            plan.ifPresent(plans::check);
        }
        if (!methods.isEmpty() && beans.containsSingleton(bean) && !isProxied(beans.getSingleton(bean))) {
            throw LockPlans.misuse(
                    methods.keySet().iterator().next(),
                    "is a method of the bean '" + bean + "', which has no proxy, so calls of it are not locked",
                    "The bean was created too early, most often since a BeanPostProcessor needs it: move the method to a bean"
                            + " of its own");
        }
    }

    private static boolean isProxied(Object bean) {
        return bean instanceof Advised advised
                && Arrays.stream(advised.getAdvisors())
                        .anyMatch(advisor -> advisor.getAdvice() instanceof LockedInterceptor);
    }
}
