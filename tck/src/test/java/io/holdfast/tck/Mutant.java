package io.holdfast.tck;

import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.Ticket;
import io.holdfast.tck.StoreTap.Behaviour;
import io.holdfast.tck.StoreTap.Operation;
import io.holdfast.tck.StoreTap.Report.Kind;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

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

    /** What becomes of what the store reports. */
    final void breaksReports(StoreTap.ReportBehaviour behaviour) {
        broken.onReport(behaviour);
    }

    /** Changes every grant, whether answered or pushed. */
    final void changesGrants(GrantChange change) {
        breaksReports(report -> {
            if (report.kind() == Kind.GRANTED) {
                change.tell(report.ticket(), report.storesTicket());
            } else {
                report.deliver();
            }
        });
    }

    /** Tells the engine's ticket of a grant, in its own way. */
    interface GrantChange {
        void tell(Ticket engines, Ticket stores);
    }
}
