package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;

/** Connects clients as the properties and customizers say. */
final class HoldfastClients {

    private final ObjectProvider<StoreSource> sources;
    private final List<HoldfastBuilderCustomizer> customizers;

    HoldfastClients(ObjectProvider<StoreSource> sources, ObjectProvider<HoldfastBuilderCustomizer> customizers) {
        this.sources = sources;
        this.customizers = customizers.orderedStream().toList();
    }

    Holdfast connect(String bean, ClientProperties properties) {
        HoldfastBuilder builder = Holdfast.builder()
                .defaults(properties.getDefaults().options())
                .requestTimeout(properties.getRequestTimeout())
                .closeTimeout(properties.getCloseTimeout())
                .localHandoff(
                        properties.getLocalHandoff().getMost(),
                        properties.getLocalHandoff().getLongest());
        if (properties.getName() != null) {
            builder.name(properties.getName());
        }
        setStore(bean, builder, properties);
        customizers.forEach(customizer -> customizer.customize(bean, builder));
        Holdfast client = builder.connect();
        if (properties.isPing()) {
            ping(client, properties);
        }
        return client;
    }

    private void setStore(String bean, HoldfastBuilder builder, ClientProperties properties) {
        if (properties.getStore() != null) {
            builder.store(properties.getStore());
        } else if (sources.orderedStream().noneMatch(source -> source.set(builder, properties))) {
            throw new NoLockStoreException("The client '" + bean
                    + "' has no lock store: neither is its address set, nor is there a Redis connection with"
                    + " holdfast-redis, or a single DataSource with holdfast-jdbc, on the class path");
        }
    }

    private static void ping(Holdfast client, ClientProperties properties) {
        try {
            client.ping(properties.getRequestTimeout());
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }
}
