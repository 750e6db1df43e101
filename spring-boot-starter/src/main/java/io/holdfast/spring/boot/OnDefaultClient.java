package io.holdfast.spring.boot;

import java.util.Map;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.ClassUtils;

/** Whether there is to be a client without a name: not where all are named and no store is there that nobody has named. */
final class OnDefaultClient implements ConfigurationCondition {

    /** Types of beans that are a store, with what uses them. */
    private static final Map<String, String> SOURCES = Map.of(
            "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails",
                    "io.holdfast.redis.RedisStores",
            "javax.sql.DataSource", "io.holdfast.jdbc.JdbcStore");

    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        return context.getEnvironment().containsProperty("holdfast.store")
                || FurtherClients.names(context.getEnvironment()).isEmpty()
                || SOURCES.entrySet().stream().anyMatch(source -> isThere(context, source.getKey(), source.getValue()));
    }

    private static boolean isThere(ConditionContext context, String type, String user) {
        ClassLoader loader = context.getClassLoader();
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        return beans != null
                && ClassUtils.isPresent(type, loader)
                && ClassUtils.isPresent(user, loader)
                && beans.getBeanNamesForType(ClassUtils.resolveClassName(type, loader), true, false).length > 0;
    }
}
