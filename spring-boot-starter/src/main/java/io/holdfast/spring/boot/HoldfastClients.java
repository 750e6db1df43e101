package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import java.util.List;
import java.util.Objects;
import org.springframework.beans.factory.ObjectProvider;

/** Connects clients as the properties and customizers say. */
final class HoldfastClients {

    private final HoldfastProperties properties;
    private final ObjectProvider<StoreSource> sources;
    private final List<HoldfastBuilderCustomizer> customizers;

    HoldfastClients(
            HoldfastProperties properties,
            ObjectProvider<StoreSource> sources,
            ObjectProvider<HoldfastBuilderCustomizer> customizers) {
        this.properties = properties;
        this.sources = sources;
        this.customizers = customizers.orderedStream().toList();
    }

    /** One of {@code holdfast.clients}. */
    Holdfast connectNamed(String bean) {
        return connect(
                bean,
                "holdfast.clients." + bean,
                Objects.requireNonNull(properties.getClients().get(bean), bean));
    }

    Holdfast connectDefault() {
        return connect("holdfast", "holdfast", properties);
    }

    private Holdfast connect(String bean, String prefix, ClientProperties settings) {
        Holdfast client;
        try {
            client = builder(bean, prefix, settings).connect();
        } catch (IllegalArgumentException e) {
            throw new NoLockStoreException(
                    "The client '" + bean + "' cannot be made: "
                            + String.valueOf(e.getMessage()).replaceAll("\\.$", ""),
                    "Correct " + prefix
                            + ".store, or the setting that is named, or add the module that serves such an address",
                    e);
        }
        if (settings.isPing()) {
            ping(client, settings);
        }
        return client;
    }

    private HoldfastBuilder builder(String bean, String prefix, ClientProperties settings) {
        HoldfastBuilder builder = Holdfast.builder()
                .defaults(settings.getDefaults().options())
                .requestTimeout(settings.getRequestTimeout())
                .closeTimeout(settings.getCloseTimeout())
                .localHandoff(
                        settings.getLocalHandoff().getMost(),
                        settings.getLocalHandoff().getLongest());
        if (settings.getName() != null) {
            builder.name(settings.getName());
        }
        setStore(bean, prefix, builder, settings);
        customizers.forEach(customizer -> customizer.customize(bean, builder));
        return builder;
    }

    private void setStore(String bean, String prefix, HoldfastBuilder builder, ClientProperties settings) {
        String store = settings.getStore();
        if (store != null) {
            boolean creates = store.startsWith("jdbc:")
                    && settings.getJdbc().isInitializeSchema()
                    && !store.contains("createSchema=");
            builder.store(creates ? store + (store.contains("?") ? "&" : "?") + "createSchema=true" : store);
        } else if (sources.orderedStream().noneMatch(source -> source.set(builder, settings))) {
            throw new NoLockStoreException(
                    "The client '" + bean
                            + "' has no lock store: neither is its address set, nor is there a Redis connection with"
                            + " holdfast-redis, or a single DataSource with holdfast-jdbc, on the class path",
                    "Set " + prefix
                            + ".store, for instance to redis://localhost:6379, and add the module of that store, here"
                            + " io.holdfast:holdfast-redis. For one machine only, file:/var/lib/locks needs no server");
        }
    }

    private static void ping(Holdfast client, ClientProperties settings) {
        try {
            client.ping(settings.getRequestTimeout());
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }
}
