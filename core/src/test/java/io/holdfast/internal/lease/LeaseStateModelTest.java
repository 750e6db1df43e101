package io.holdfast.internal.lease;

import io.holdfast.Loss;
import io.holdfast.LossReason;
import io.holdfast.ReleaseResult;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Explores interleavings of release, loss and callbacks of one lease. */
@DisplayName("The lease's states, over all interleavings the model checker finds")
public class LeaseStateModelTest {

    private static final Loss LOSS = new Loss("a", 1, LossReason.EXPIRED, "test");

    private final LeaseState state = new LeaseState();
    private final LossNotice notice = new LossNotice();
    private final AtomicInteger ends = new AtomicInteger();
    private final AtomicInteger asked = new AtomicInteger();
    private final AtomicInteger told = new AtomicInteger();

    /** How often the lease was ended: 1 after any release or loss. */
    @Operation
    public int release() {
        if (state.beginRelease()) {
            ends.incrementAndGet();
            state.finishRelease(ReleaseResult.RELEASED);
        }
        return state.isHeld() ? 0 : 1;
    }

    @Operation
    public int lose() {
        if (state.lose()) {
            ends.incrementAndGet();
            notice.announce(LOSS);
        }
        return state.isHeld() ? 0 : 1;
    }

    @Operation
    public void ask() {
        asked.incrementAndGet();
        notice.add(loss -> told.incrementAndGet());
    }

    @Validate
    public void everyListenerHearsOfALossOnce() {
        int expected = notice.loss().isPresent() ? asked.get() : 0;
        if (told.get() != expected || ends.get() > 1) {
            throw new IllegalStateException(told + " told, " + expected + " expected, ended " + ends + " times");
        }
    }

    @Test
    void endsOnceAndTellsEveryListenerOnce() {
        check(3);
    }

    @Test
    @Tag("full")
    void endsOnceAndTellsEveryListenerOnceInManyMoreScenes() {
        check(20);
    }

    private static void check(int scenes) {
        new ModelCheckingOptions()
                .iterations(scenes)
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(2)
                .check(LeaseStateModelTest.class);
    }
}
