package io.holdfast.tck;

import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.StoreFactory;
import java.util.Optional;

class MemoryConformanceTest extends LockStoreContract {

    private final InProcessFaults faults = new InProcessFaults(MemoryStore.named("conformance"));

    @Override
    public StoreFactory store() {
        return faults;
    }

    @Override
    public Optional<Faults> faults() {
        return Optional.of(faults);
    }
}
