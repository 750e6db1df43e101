package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The endpoint, where it is exposed. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnAvailableEndpoint(HoldfastEndpoint.class)
public class HoldfastEndpointAutoConfiguration {

    private final Map<String, LocalLeases> leases = new ConcurrentHashMap<>();

    @Bean
    HoldfastBuilderCustomizer holdfastLocalLeases() {
        return (client, builder) -> builder.observer(leases.computeIfAbsent(client, name -> new LocalLeases()));
    }

    @Bean
    @ConditionalOnMissingBean
    HoldfastEndpoint holdfastEndpoint(Map<String, Holdfast> clients) {
        return new HoldfastEndpoint(clients, leases);
    }
}
