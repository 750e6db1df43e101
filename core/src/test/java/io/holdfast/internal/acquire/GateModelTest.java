package io.holdfast.internal.acquire;

import io.holdfast.Demand;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Explores interleavings of the gate. The counter inside is not atomic: two threads inside at once lose an update. A
 * lost wake-up hangs, which the checker reports. A warm value that is stranded or given twice shows at the end.
 */
@DisplayName("The gate, over all interleavings the model checker finds")
public class GateModelTest {

    private static final long LONG_AGO = -10_000_000;

    private final Gate<Warm> gate = new Gate<>(new Noon(), 0); // spinning hides the queue from the checker
    private int entered;
    private final AtomicInteger warmValues = new AtomicInteger();

    /** Waits its turn, patiently: the gate stays in normal mode. */
    @Operation
    public int enterAndLeave() {
        Visitor visitor = new Visitor(Demand.exclusive());
        visitor.waitInside(0);
        int count = ++entered;
        gate.leave(visitor);
        return count;
    }

    /** Waits its turn and has waited long when it wakes: turns the gate to starvation mode. */
    @Operation
    public int enterStarvedAndHandOver() {
        Visitor visitor = new Visitor(Demand.exclusive());
        visitor.waitInside(LONG_AGO);
        int count = ++entered;
        warmValues.incrementAndGet();
        if (!gate.handOver(visitor, new Warm())) {
            warmValues.decrementAndGet();
            gate.leave(visitor);
        }
        return count;
    }

    /** Waits its turn beside other readers: no writer is inside meanwhile. */
    @Operation
    public int read() {
        Visitor visitor = new Visitor(Demand.shared());
        visitor.waitInside(0);
        int count = entered;
        if (count != entered) {
            throw new IllegalStateException("a writer beside a reader");
        }
        gate.leave(visitor);
        return count;
    }

    /** Enters only if that is possible at once; in any order with the others that is either so or not. */
    @Operation
    public void passIfFree() {
        Visitor visitor = new Visitor(Demand.exclusive());
        if (gate.tryEnter(visitor)) {
            visitor.disposeOfInherited();
            gate.leave(visitor);
        }
    }

    /** Joins the queue and gives up at once unless it is inside by then. */
    @Operation
    public void giveUp() {
        Visitor visitor = new Visitor(Demand.exclusive());
        boolean inside = gate.enter(visitor, 0) || !gate.withdraw(visitor);
        visitor.disposeOfInherited();
        if (inside) {
            gate.leave(visitor);
        }
    }

    @Validate
    public void nothingIsLeftAtTheGate() {
        if (warmValues.get() != 0 || !gate.isUnused()) {
            throw new IllegalStateException(warmValues + " warm values left, gate unused: " + gate.isUnused());
        }
    }

    private final class Visitor extends Gate.Entry<Warm> {

        private final Thread thread = Thread.currentThread();

        Visitor(Demand demand) {
            super(demand);
        }

        void waitInside(long sinceNanos) {
            boolean inside = gate.enter(this, sinceNanos);
            while (!inside) {
                LockSupport.park(this);
                inside = gate.proceed(this);
            }
            disposeOfInherited();
        }

        void disposeOfInherited() {
            if (takeInherited() != null) {
                warmValues.decrementAndGet();
            }
        }

        @Override
        void wake() {
            LockSupport.unpark(thread);
        }

        @Override
        boolean accepts(Warm warm) {
            return true;
        }

        @Override
        void letGo(Warm handedOver) {}
    }

    private static final class Warm {}

    /** Time stands still, so that how long somebody has waited depends only on when it says it began. */
    private static final class Noon implements TimeSource {

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            LockSupport.park(blocker);
        }
    }

    @Test
    void admitsOneAtATimeAndForgetsNobody() {
        check(3);
    }

    @Test
    @Tag("full")
    void admitsOneAtATimeAndForgetsNobodyInManyMoreScenes() {
        check(20);
    }

    private static void check(int scenes) {
        new ModelCheckingOptions()
                .iterations(scenes)
                .invocationsPerIteration(500)
                .threads(3)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .check(GateModelTest.class);
    }
}
