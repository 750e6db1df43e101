package io.holdfast.spring.aot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.proxies;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.resource;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.spring.CurrentLease;
import io.holdfast.spring.EnableHoldfast;
import io.holdfast.spring.LockMisuseException;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnConflict;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.TypeReference;
import org.springframework.aot.hint.predicate.ReflectionHintsPredicates;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;

@DisplayName("ahead of time")
class AheadOfTimeTest {

    record Order(String sku) {}

    static class Regions {
        public String nearest() {
            return "north";
        }
    }

    /** Of a class that is not the proxied one itself, whose methods Spring makes reachable. */
    static class Seller {
        String soldOut(Order order, int pieces) {
            return "sold out";
        }
    }

    static class Shop extends Seller {

        @Locked(
                name = "stock/#{@regions.nearest()}/#{#order.sku}",
                maxWait = "0",
                onConflict = OnConflict.FALLBACK,
                fallback = "soldOut")
        public String buy(Order order, int pieces) {
            return CurrentLease.require().name();
        }
    }

    static class Broken {
        @Locked(name = "a", onConflict = OnConflict.FALLBACK, fallback = "none")
        public void work() {}
    }

    @Configuration(proxyBeanMethods = false)
    @EnableHoldfast
    static class Application {

        @Bean
        Holdfast holdfast() {
            return Holdfast.connect("memory:ahead-of-time");
        }

        @Bean
        Regions regions() {
            return new Regions();
        }

        @Bean
        Shop shop() {
            return new Shop();
        }
    }

    private static RuntimeHints process(Class<?>... beans) {
        TestGenerationContext generation = new TestGenerationContext();
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.register(beans);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }
        return generation.getRuntimeHints();
    }

    @Test
    @CompileWithForkedClassLoader
    void locksAreTakenInAContextThatWasGenerated() {
        TestGenerationContext generation = new TestGenerationContext();
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.register(Application.class);
        String initializer = new ApplicationContextAotGenerator()
                .processAheadOfTime(context, generation)
                .canonicalName();
        generation.writeGeneratedContent();

        TestCompiler.forSystem().with(generation).compile(compiled -> {
            ApplicationContextInitializer<GenericApplicationContext> generated =
                    initializer(compiled.getInstance(ApplicationContextInitializer.class, initializer));
            try (GenericApplicationContext started = new GenericApplicationContext()) {
                generated.initialize(started);
                started.refresh();
                Shop shop = started.getBean(Shop.class);

                assertThat(shop.getClass()).isNotEqualTo(Shop.class);
                assertThat(shop.buy(new Order("42"), 1)).isEqualTo("stock/north/42");
                try (Holdfast other = Holdfast.connect("memory:ahead-of-time");
                        Lease taken = other.lock("stock/north/42").tryAcquire().orElseThrow()) {
                    assertThat(taken.isValid()).isTrue();
                    assertThat(shop.buy(new Order("42"), 1)).isEqualTo("sold out");
                }
            }
        });
    }

    @SuppressWarnings("unchecked")
    private static ApplicationContextInitializer<GenericApplicationContext> initializer(Object generated) {
        return (ApplicationContextInitializer<GenericApplicationContext>) generated;
    }

    @Test
    void fallbacksAndWhatNamesReadAreReachable() throws Exception {
        RuntimeHints hints = process(Application.class);

        assertThat(reflection().onMethodInvocation(Seller.class.getDeclaredMethod("soldOut", Order.class, int.class)))
                .accepts(hints);
        assertThat(reflection().onMethodInvocation(Order.class.getMethod("sku")))
                .accepts(hints);
        assertThat(reflection().onMethodInvocation(Regions.class.getMethod("nearest")))
                .accepts(hints);
        assertThat(proxies().forInterfaces(Locked.class)).accepts(hints);
    }

    @Test
    void anUnknownFallbackIsToldWhenTheApplicationIsBuilt() {
        assertThatThrownBy(() -> process(Application.class, Broken.class))
                .rootCause()
                .isInstanceOf(LockMisuseException.class)
                .hasMessageContaining("names the fallback 'none'");
    }

    @Test
    void storesScriptsStatementsAndVirtualThreadsAreReachable() {
        RuntimeHints hints = new RuntimeHints();
        new HoldfastHints().registerHints(hints, getClass().getClassLoader());
        ReflectionHintsPredicates reflection = reflection();

        assertThat(resource().forResource("META-INF/services/io.holdfast.spi.StoreProvider"))
                .accepts(hints);
        assertThat(resource().forResource("io/holdfast/redis/script/release.lua"))
                .accepts(hints);
        assertThat(resource().forResource("io/holdfast/jdbc/locks-postgresql.sql"))
                .accepts(hints);
        for (String provider : new String[] {
            "io.holdfast.memory.MemoryStoreProvider",
            "io.holdfast.file.FileStoreProvider",
            "io.holdfast.jdbc.JdbcStores"
        }) {
            assertThat(reflection
                            .onType(TypeReference.of(provider))
                            .withMemberCategory(MemberCategory.INVOKE_PUBLIC_CONSTRUCTORS))
                    .as(provider)
                    .accepts(hints);
        }
        assertInvocable(hints, "java.lang.Thread", "ofVirtual");
        assertInvocable(hints, "java.lang.Thread$Builder", "factory");
        assertInvocable(hints, "java.lang.Thread$Builder", "name", String.class, long.class);
        assertInvocable(hints, "java.util.concurrent.Executors", "newThreadPerTaskExecutor", ThreadFactory.class);
    }

    /** Not by predicates: an older JDK has no such methods. */
    private static void assertInvocable(RuntimeHints hints, String type, String name, Class<?>... parameters) {
        assertThat(hints.reflection()
                        .getTypeHint(TypeReference.of(type))
                        .methods()
                        .filter(method -> method.getName().equals(name)
                                && method.getMode() == ExecutableMode.INVOKE
                                && method.getParameterTypes().equals(TypeReference.listOf(parameters))))
                .as(type + "." + name)
                .hasSize(1);
    }
}
