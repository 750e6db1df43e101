package io.holdfast.spring.boot;

import io.holdfast.Election;
import io.holdfast.Holdfast;
import io.holdfast.spring.config.HoldfastLocking;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.core.annotation.Order;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.concurrent.ExecutorConfigurationSupport;

/** A client, or several, and the annotations. */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
        })
@EnableConfigurationProperties(HoldfastProperties.class)
@Import(FurtherClients.class)
public class HoldfastAutoConfiguration {

    @Bean
    HoldfastClients holdfastClients(
            HoldfastProperties properties,
            ObjectProvider<StoreSource> sources,
            ObjectProvider<HoldfastBuilderCustomizer> customizers) {
        return new HoldfastClients(properties, sources, customizers);
    }

    /** Not made where all clients are named ones. */
    @Bean(destroyMethod = "close")
    @Primary
    @ConditionalOnMissingBean
    @Conditional(OnDefaultClient.class)
    Holdfast holdfast(HoldfastClients clients) {
        return clients.connectDefault();
    }

    @Bean
    ShutdownStep holdfastExecutorShutdown(
            ObjectProvider<ExecutorConfigurationSupport> pools, ObjectProvider<SimpleAsyncTaskExecutor> executors) {
        return ShutdownStep.drain(pools, executors);
    }

    @Bean
    ShutdownStep holdfastLeaderShutdown(ObjectProvider<Election> elections) {
        return ShutdownStep.resign(elections);
    }

    @Bean
    ShutdownStep holdfastClientShutdown(ObjectProvider<Holdfast> clients) {
        return ShutdownStep.close(clients);
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = "holdfast.locked.enabled", matchIfMissing = true)
    @Import(HoldfastLocking.class)
    static class Annotations {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(value = DataRedisConnectionDetails.class, name = "io.holdfast.redis.RedisStores")
    static class Redis {

        @Bean
        @Order(1)
        StoreSource holdfastRedisSource(ObjectProvider<DataRedisConnectionDetails> connections) {
            return new RedisStoreSource(connections);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(value = DataSource.class, name = "io.holdfast.jdbc.JdbcStore")
    static class Database {

        @Bean
        @Order(2)
        StoreSource holdfastDataSourceSource(ObjectProvider<DataSource> databases) {
            return new DataSourceStoreSource(databases);
        }
    }
}
