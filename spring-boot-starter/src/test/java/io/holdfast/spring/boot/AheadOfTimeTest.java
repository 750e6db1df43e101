package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.spring.CurrentLease;
import io.holdfast.spring.Locked;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;

@DisplayName("auto-configuration ahead of time")
class AheadOfTimeTest {

    static class Shop {
        @Locked(name = "stock/#{#sku}", client = "orders")
        public String buy(String sku) {
            return CurrentLease.require().name();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {
        @Bean
        Shop shop() {
            return new Shop();
        }
    }

    @Test
    @CompileWithForkedClassLoader
    void generatedContextsHaveTheDefaultClientAndTheNamedOnes() {
        TestGenerationContext generation = new TestGenerationContext();
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        setProperties(context);
        context.register(HoldfastAutoConfiguration.class, HoldfastMetricsAutoConfiguration.class, Application.class);
        String initializer = new ApplicationContextAotGenerator()
                .processAheadOfTime(context, generation)
                .canonicalName();
        generation.writeGeneratedContent();

        TestCompiler.forSystem().with(generation).compile(compiled -> {
            try (GenericApplicationContext started = new GenericApplicationContext()) {
                setProperties(started);
                initialize(compiled.getInstance(ApplicationContextInitializer.class, initializer), started);
                started.refresh();

                assertThat(started.getBeansOfType(Holdfast.class)).containsOnlyKeys("holdfast", "orders");
                assertThat(started.getBean("orders", Holdfast.class).name()).isEqualTo("orders-1");
                assertThat(started.getBean(Shop.class).buy("42")).isEqualTo("stock/42");
                assertThat(started.getBean("orders", Holdfast.class)
                                .statistics()
                                .granted())
                        .isEqualTo(1);
            }
        });
    }

    private static void setProperties(GenericApplicationContext context) {
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource(
                        "test",
                        Map.of(
                                "holdfast.store", "memory:",
                                "holdfast.clients.orders.store", "memory:orders",
                                "holdfast.clients.orders.name", "orders-1")));
    }

    @SuppressWarnings("unchecked")
    private static void initialize(Object generated, GenericApplicationContext context) {
        ((ApplicationContextInitializer<GenericApplicationContext>) generated).initialize(context);
    }
}
