package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import java.util.Map;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;

/** Health of the lock stores; in no probe group unless it is put there. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass({HealthContributor.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnEnabledHealthIndicator("holdfast")
public class HoldfastHealthAutoConfiguration {

    @Bean
    @ConditionalOnBean(Holdfast.class)
    @ConditionalOnMissingBean(name = "holdfastHealthContributor")
    HealthContributor holdfastHealthContributor(Map<String, Holdfast> clients) {
        return clients.size() == 1
                ? new HoldfastHealthIndicator(clients.values().iterator().next())
                : CompositeHealthContributor.fromMap(clients, HoldfastHealthIndicator::new);
    }
}
