package io.holdfast.internal;

import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreUri;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds the store a URI names among the modules on the class path. */
public final class Stores {

    static final String ENVIRONMENT_VARIABLE = "HOLDFAST_STORE";

    private static final String EMBEDDED = "file:";

    private static final List<Module> MODULES = List.of(
            new Module(
                    "io.holdfast:holdfast-redis",
                    "redis://localhost:6379",
                    Set.of("redis", "rediss", "redis-sentinel", "redis-cluster", "redlock")),
            new Module("io.holdfast:holdfast-etcd", "etcd://localhost:2379", Set.of("etcd", "etcds")),
            new Module(
                    "io.holdfast:holdfast-zookeeper", "zookeeper://localhost:2181", Set.of("zookeeper", "zookeepers")),
            new Module("io.holdfast:holdfast-jdbc", "jdbc:postgresql://localhost:5432/app", Set.of("jdbc")));

    private Stores() {}

    /** The store of that URI; without one, that of the environment; without that, the embedded default. */
    public static StoreFactory named(@Nullable String uri) {
        String environment = System.getenv(ENVIRONMENT_VARIABLE);
        if (uri != null) {
            return find(StoreUri.parse(uri));
        }
        return find(StoreUri.parse(environment != null && !environment.isBlank() ? environment : EMBEDDED));
    }

    private static StoreFactory find(StoreUri uri) {
        List<String> examples = new ArrayList<>();
        Set<String> served = new HashSet<>();
        for (StoreProvider provider : ServiceLoader.load(StoreProvider.class, Stores.class.getClassLoader())) {
            if (provider.schemes().contains(uri.scheme())) {
                return provider.store(uri);
            }
            examples.add(provider.example());
            served.addAll(provider.schemes());
        }
        Optional<Module> missing =
                MODULES.stream().filter(module -> module.serves(uri.scheme())).findFirst();
        if (missing.isPresent()) {
            throw new IllegalArgumentException(uri + " needs " + missing.get().artifact()
                    + " on the class path, which has: " + String.join(", ", examples));
        }
        MODULES.stream()
                .filter(module -> served.stream().noneMatch(module::serves))
                .forEach(module -> examples.add(module.example()));
        throw new IllegalArgumentException(
                "no store serves " + uri + "; an address begins as one of: " + String.join(", ", examples));
    }

    /**
     * A module of ours that may be missing. Only for the message: stores are found without it.
     *
     * @param artifact what to depend on
     * @param example the address of such a store
     * @param schemes what its addresses begin with
     */
    private record Module(String artifact, String example, Set<String> schemes) {

        boolean serves(String scheme) {
            return schemes.contains(scheme);
        }
    }
}
