package io.holdfast.internal;

import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreUri;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** Finds the store a URI names among the modules on the class path. */
public final class Stores {

    static final String ENVIRONMENT_VARIABLE = "HOLDFAST_STORE";

    private static final String EMBEDDED = "file:";

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
        for (StoreProvider provider : ServiceLoader.load(StoreProvider.class, Stores.class.getClassLoader())) {
            if (provider.schemes().contains(uri.scheme())) {
                return provider.store(uri);
            }
            examples.add(provider.example());
        }
        throw new IllegalArgumentException("no store on the class path serves " + uri + "; there are: "
                + String.join(", ", examples) + ". Add the module of the store you want, such as holdfast-redis");
    }
}
