package io.holdfast.spring.start;

import io.holdfast.spring.call.LockedInterceptor;
import io.holdfast.spring.plan.LockPlans;
import io.holdfast.spring.plan.LockTemplates;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.util.ClassUtils;

/** Looks at all annotated methods of all beans when the application starts: a lock that is not taken shows nowhere later. */
public final class LockedMethodsCheck implements SmartInitializingSingleton, AopInfrastructureBean {

    private final ConfigurableListableBeanFactory beans;
    private final LockPlans plans;
    private final LockTemplates templates;

    public LockedMethodsCheck(ConfigurableListableBeanFactory beans, LockPlans plans, LockTemplates templates) {
        this.beans = beans;
        this.plans = plans;
        this.templates = templates;
    }

    @Override
    public void afterSingletonsInstantiated() {
        for (String bean : beans.getBeanDefinitionNames()) {
            // What a factory makes is another object than itself, and what is in a scope has a bean of its own.
            Object made = beans.containsSingleton(bean) ? beans.getSingleton(bean) : null;
            Object object = made instanceof FactoryBean<?> ? null : made;
            Class<?> type = object == null ? beans.getType(bean, false) : LockPlans.typeOf(object);
            if (type != null && LockPlans.mayHaveLockedMethods(type)) {
                check(bean, object, ClassUtils.getUserClass(type));
            }
        }
        templates.collect();
    }

    private void check(String bean, @Nullable Object object, Class<?> type) {
        Map<Method, Boolean> methods =
                MethodIntrospector.selectMethods(type, (MethodIntrospector.MetadataLookup<Boolean>)
                        method -> LockPlans.isAnnotated(method) ? true : null);
        for (Method method : methods.keySet()) {
            plans.of(method, type);
            if (object != null) {
                requireIntercepted(method, bean, object);
            }
        }
    }

    private static void requireIntercepted(Method method, String bean, Object object) {
        if (!isProxied(object)) {
            throw LockPlans.misuse(
                    method,
                    "is a method of the bean '" + bean + "', which has no proxy, so calls of it are not locked",
                    "The bean was created too early, most often since a BeanPostProcessor needs it: move the method to a bean"
                            + " of its own");
        }
        if (AopUtils.isJdkDynamicProxy(object) && !isCallableThrough(object.getClass(), method)) {
            throw LockPlans.misuse(
                    method,
                    "is in no interface of the bean '" + bean
                            + "', whose proxy has its interfaces only, so it cannot be" + " called with its lock",
                    "Declare it in an interface, or set proxyTargetClass = true on the annotation that makes the proxy");
        }
    }

    private static boolean isCallableThrough(Class<?> proxy, Method method) {
        try {
            AopUtils.selectInvocableMethod(method, proxy);
            return true;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    private static boolean isProxied(Object bean) {
        return bean instanceof Advised advised
                && Arrays.stream(advised.getAdvisors())
                        .anyMatch(advisor -> advisor.getAdvice() instanceof LockedInterceptor);
    }
}
