package io.holdfast.testing;

import io.holdfast.Holdfast;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives each test {@link TestLocks} of its own, as a parameter of the test or of a {@code @BeforeEach} method; a parameter of
 * type {@link Holdfast} gets their client. Fails a test that leaves a lease open.
 *
 * <pre>{@code
 * @ExtendWith(HoldfastExtension.class)
 * class ShopTest {
 *     @Test
 *     void aTakenLockMeansBusy(TestLocks locks) { … }
 * }
 * }</pre>
 */
public final class HoldfastExtension implements ParameterResolver, AfterEachCallback {

    private static final ExtensionContext.Namespace NAMESPACE =
            ExtensionContext.Namespace.create(HoldfastExtension.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return (type == TestLocks.class || type == Holdfast.class)
                && parameter.getDeclaringExecutable() instanceof Method method
                && !method.isAnnotationPresent(BeforeAll.class)
                && !method.isAnnotationPresent(AfterAll.class);
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestLocks locks = context.getStore(NAMESPACE)
                .computeIfAbsent(context.getUniqueId(), test -> new Kept(TestLocks.create()), Kept.class)
                .locks;
        return parameter.getParameter().getType() == TestLocks.class ? locks : locks.holdfast();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        @Nullable Kept kept = context.getStore(NAMESPACE).remove(context.getUniqueId(), Kept.class);
        if (kept == null) {
            return;
        }
        if (context.getExecutionException().isPresent()) {
            kept.locks.closeUnchecked();
        } else {
            kept.locks.close();
        }
    }

    /** Not closeable itself: JUnit would close it a second time, at the end of the test. */
    private record Kept(TestLocks locks) {}
}
