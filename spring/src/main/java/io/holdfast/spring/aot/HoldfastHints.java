package io.holdfast.spring.aot;

import io.holdfast.spi.StoreProvider;
import io.holdfast.spring.Locked;
import io.holdfast.spring.ScheduledLock;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;

/**
 * What a native image needs to know of Holdfast: the stores that were found, their scripts and statements, and the virtual threads of
 * newer JDKs, which are reached by reflection.
 */
final class HoldfastHints implements RuntimeHintsRegistrar {

    @Override
    public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
        hints.resources()
                .registerPattern("META-INF/services/" + StoreProvider.class.getName())
                .registerPattern("io/holdfast/redis/**/*.lua")
                .registerPattern("io/holdfast/jdbc/*.sql");
        ServiceLoader.load(StoreProvider.class, classLoader).stream()
                .forEach(provider ->
                        hints.reflection().registerType(provider.type(), MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS));
        hints.proxies().registerJdkProxy(Locked.class);
        hints.proxies().registerJdkProxy(ScheduledLock.class);
        virtualThreads(hints);
    }

    private static void virtualThreads(RuntimeHints hints) {
        hints.reflection()
                .registerType(Thread.class, type -> type.withMethod("ofVirtual", List.of(), ExecutableMode.INVOKE))
                .registerType(
                        TypeReference.of("java.lang.Thread$Builder"),
                        type -> type.withMethod(
                                        "name",
                                        List.of(TypeReference.of(String.class), TypeReference.of(long.class)),
                                        ExecutableMode.INVOKE)
                                .withMethod("factory", List.of(), ExecutableMode.INVOKE))
                .registerType(
                        Executors.class,
                        type -> type.withMethod(
                                "newThreadPerTaskExecutor",
                                List.of(TypeReference.of(ThreadFactory.class)),
                                ExecutableMode.INVOKE));
    }
}
