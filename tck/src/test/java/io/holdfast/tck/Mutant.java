package io.holdfast.tck;

import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.TicketListener;
import io.holdfast.tck.StoreTap.Behaviour;
import io.holdfast.tck.StoreTap.Call;
import io.holdfast.tck.StoreTap.Operation;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
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

    /** Changes every grant, whether answered or pushed. */
    final void changesGrants(UnaryOperator<Grant> change) {
        breaks(Operation.ATTEMPT, call -> changed(call.proceed(), change));
        breaks(Operation.ENQUEUE, call -> {
            changePush(call, change);
            return changed(call.proceed(), change);
        });
    }

    static Object changed(Object answer, UnaryOperator<Grant> change) {
        return answer instanceof Answer.Granted granted ? new Answer.Granted(change.apply(granted.grant())) : answer;
    }

    static void changePush(Call call, UnaryOperator<Grant> change) {
        TicketListener listener = (TicketListener) call.arguments()[1];
        call.arguments()[1] = new TicketListener() {
            @Override
            public void granted(Grant grant) {
                listener.granted(change.apply(grant));
            }

            @Override
            public void lost(String reason) {
                listener.lost(reason);
            }
        };
    }
}
