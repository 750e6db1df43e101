package io.holdfast.spring.aot;

import io.holdfast.spring.Locked;
import io.holdfast.spring.plan.Fallback;
import io.holdfast.spring.plan.LockPlans;
import io.holdfast.spring.plan.NameTemplate;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;

/**
 * Tells ahead of time what locked methods reach by reflection: their fallbacks, and what their names' expressions read of parameters
 * and call of beans.
 */
final class LockedMethodsAhead implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        Class<?> type = ClassUtils.getUserClass(bean.getBeanClass());
        if (!LockPlans.mayHaveLockedMethods(type)) {
            return null;
        }
        Set<Method> methods = MethodIntrospector.selectMethods(type, LockPlans::isAnnotated);
        if (methods.isEmpty()) {
            return null;
        }
        List<Method> fallbacks = methods.stream()
                .flatMap(method -> fallback(method, type).stream())
                .toList();
        List<Class<?>> read = methods.stream()
                .flatMap(LockedMethodsAhead::templates)
                .<Class<?>>flatMap(template -> Stream.concat(
                        template.parametersUsed().stream().map(Parameter::getType),
                        template.beansUsed().stream()
                                .map(name -> bean.getBeanFactory().getType(name, false))))
                .filter(used -> used != null && !ClassUtils.isPrimitiveOrWrapper(used) && used != String.class)
                .distinct()
                .toList();
        return (generation, code) -> {
            ReflectionHints hints = generation.getRuntimeHints().reflection();
            fallbacks.forEach(fallback -> hints.registerMethod(fallback, ExecutableMode.INVOKE));
            read.forEach(used -> hints.registerType(used, MemberCategory.INVOKE_PUBLIC_METHODS));
        };
    }

    private static List<Method> fallback(Method method, Class<?> type) {
        Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
        return locked == null || locked.fallback().isEmpty()
                ? List.of()
                : List.of(Fallback.of(method, type, locked.fallback()));
    }

    private static Stream<NameTemplate> templates(Method method) {
        Locked locked = AnnotatedElementUtils.findMergedAnnotation(method, Locked.class);
        return locked == null
                ? Stream.empty()
                : Arrays.stream(locked.name()).map(name -> new NameTemplate(name, method));
    }
}
