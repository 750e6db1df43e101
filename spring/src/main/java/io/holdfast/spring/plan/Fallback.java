package io.holdfast.spring.plan;

import io.holdfast.Lease;
import io.holdfast.spring.LockConflictException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Finds the method that is called instead of one that did not get its lock. */
public final class Fallback {

    private Fallback() {}

    public static Method of(Method method, Class<?> type, String name) {
        List<Class<?>> parameters = new ArrayList<>();
        for (Class<?> parameter : method.getParameterTypes()) {
            if (parameter != Lease.class) {
                parameters.add(parameter);
            }
        }
        Method found = ReflectionUtils.findMethod(type, name, parameters.toArray(Class<?>[]::new));
        if (found == null) {
            parameters.add(LockConflictException.class);
            found = ReflectionUtils.findMethod(type, name, parameters.toArray(Class<?>[]::new));
        }
        if (found == null) {
            throw LockPlans.misuse(
                    method,
                    "names the fallback '" + name + "', but " + type.getSimpleName()
                            + " has no such method with the same parameters",
                    "Write one with the same parameters, without those of type Lease and optionally with a"
                            + " LockConflictException as the last");
        }
        if (!ClassUtils.isAssignable(method.getReturnType(), found.getReturnType())) {
            throw LockPlans.misuse(
                    method,
                    "has a fallback that returns " + found.getReturnType().getSimpleName() + " and not "
                            + method.getReturnType().getSimpleName(),
                    "Let both return the same");
        }
        ReflectionUtils.makeAccessible(found);
        return found;
    }
}
