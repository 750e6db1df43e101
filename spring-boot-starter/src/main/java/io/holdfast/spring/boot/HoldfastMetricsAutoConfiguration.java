package io.holdfast.spring.boot;

import io.holdfast.micrometer.HoldfastMetrics;
import io.holdfast.micrometer.HoldfastTracing;
import io.holdfast.spring.plan.LockTemplates;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.tracing.Tracer;
import java.util.Optional;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.function.SingletonSupplier;

/** Meters of all clients in the application's registry, and spans of acquisitions where it has a tracer. */
@AutoConfiguration(
        after = HoldfastAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            // Of Boot 3.5.
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration",
            "org.springframework.boot.micrometer.tracing.opentelemetry.autoconfigure.OpenTelemetryTracingAutoConfiguration",
            "org.springframework.boot.micrometer.tracing.brave.autoconfigure.BraveAutoConfiguration"
        })
public class HoldfastMetricsAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({MeterRegistry.class, HoldfastMetrics.class})
    static class Metrics {

        @Bean
        @ConditionalOnBean(MeterRegistry.class)
        HoldfastBuilderCustomizer holdfastMetrics(
                MeterRegistry registry,
                HoldfastProperties properties,
                ObjectProvider<LockTemplates> templates,
                ObjectProvider<HoldfastMetricsCustomizer> customizers) {
            // Asked for with the first event: clients may be made before the annotations are looked at.
            SingletonSupplier<LockTemplates> known = SingletonSupplier.ofNullable(templates::getIfAvailable);
            return (client, builder) -> {
                HoldfastMetrics.Builder metrics = HoldfastMetrics.builder(registry)
                        .lockTemplates(
                                lock -> Optional.ofNullable(known.get()).flatMap(annotated -> annotated.of(lock)));
                if (properties.getMetrics().isHistograms()) {
                    metrics.withHistograms();
                }
                customizers.orderedStream().forEach(customizer -> customizer.customize(client, metrics));
                builder.observer(metrics.build());
            };
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({Tracer.class, HoldfastTracing.class})
    static class Tracing {

        @Bean
        @ConditionalOnBean(Tracer.class)
        HoldfastBuilderCustomizer holdfastTracing(Tracer tracer, HoldfastProperties properties) {
            return (client, builder) -> builder.observer(
                    HoldfastTracing.of(tracer, properties.getTracing().getWaitedAtLeast()));
        }
    }
}
