package io.holdfast.memory;

import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreUri;
import java.util.Set;

/** Serves {@code memory:} and {@code memory:name}. */
public final class MemoryStoreProvider implements StoreProvider {

    @Override
    public Set<String> schemes() {
        return Set.of("memory");
    }

    @Override
    public String example() {
        return "memory:";
    }

    @Override
    public StoreFactory store(StoreUri uri) {
        uri.requireParametersIn(Set.of());
        if (!uri.hosts().isEmpty()) {
            throw new IllegalArgumentException(uri + " names a host, but memory stores live in this JVM: memory:name");
        }
        return uri.path().isEmpty() ? MemoryStore.unnamed() : MemoryStore.named(uri.path());
    }
}
