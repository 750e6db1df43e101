package io.holdfast.tck;

import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.StoreFactory;
import io.holdfast.tck.tap.Report;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.StoreTap.Asked;
import io.holdfast.tck.tap.StoreTap.Behaviour;
import io.holdfast.tck.tap.StoreTap.Operation;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/** A memory store with one fault, in the form of a store's test class. A new one is made per test. */
abstract class Mutant extends LockStoreContract {

    private final InProcessFaults faults =
            new InProcessFaults(MemoryStore.named(UUID.randomUUID().toString()));
    private final StoreTap broken = new StoreTap(faults);

    @Override
    public StoreFactory store() {
        return broken;
    }

    @Override
    public Optional<Faults> faults() {
        return Optional.of(faults);
    }

    @Override
    public Duration patience() {
        return Duration.ofSeconds(2);
    }

    final void breaks(Operation operation, Behaviour behaviour) {
        broken.on(operation, behaviour);
    }

    /** Asks the store for something else than the engine does. */
    final void asks(UnaryOperator<Asked> change) {
        broken.asking(change);
    }

    /** Whoever is given a report delivers it, or another, or none. */
    final void reports(Consumer<Report> way) {
        broken.onReport(way);
    }

    /** Changes every grant, whether answered or pushed. */
    final void changesGrants(UnaryOperator<Report.Granted> change) {
        reports(report -> (report instanceof Report.Granted granted ? change.apply(granted) : report).deliver());
    }
}
