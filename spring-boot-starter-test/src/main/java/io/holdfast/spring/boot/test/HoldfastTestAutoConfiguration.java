package io.holdfast.spring.boot.test;

import io.holdfast.Holdfast;
import io.holdfast.spring.boot.HoldfastAutoConfiguration;
import io.holdfast.spring.boot.HoldfastBuilderCustomizer;
import io.holdfast.testing.TestLocks;
import java.util.UUID;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.core.annotation.Order;

/** The client of {@link TestLocks} in the place of the application's. */
@AutoConfiguration(before = HoldfastAutoConfiguration.class)
public class HoldfastTestAutoConfiguration {

    /** Closed without a complaint about leases: that is the listener's, after each test. */
    @Bean(destroyMethod = "")
    TestLocks holdfastTestLocks(ObjectProvider<HoldfastBuilderCustomizer> customizers) {
        return TestLocks.create(builder -> {
            customizers.orderedStream().forEach(customizer -> customizer.customize("holdfast", builder));
            return builder;
        });
    }

    /** The stores of {@code holdfast.clients} are replaced too, by an empty one each. */
    @Bean
    @Order
    HoldfastBuilderCustomizer holdfastTestStores() {
        String space = "memory:test-" + UUID.randomUUID() + "-";
        return (client, builder) -> {
            if (!client.equals("holdfast")) {
                builder.store(space + client);
            }
        };
    }

    @Bean(destroyMethod = "close")
    @Primary
    Holdfast holdfast(TestLocks locks) {
        return locks.holdfast();
    }
}
