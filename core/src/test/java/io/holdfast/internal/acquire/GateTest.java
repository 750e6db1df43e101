package io.holdfast.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.ManualTime;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The gate")
class GateTest {

    private final ManualTime time = new ManualTime();
    private final Gate<Object> gate = new Gate<>(time, 0);

    @Test
    void newcomerMayWalkInAheadOfOneWhoHasJustBeenCalled() {
        Visitor first = inside();
        waiting();

        gate.leave(first);

        assertThat(gate.tryEnter(new Visitor())).isTrue();
    }

    @Test
    void nobodyWalksInAheadOfOneWhoWasCalledInVainForLong() {
        Visitor first = inside();
        Visitor starving = waiting();
        Visitor overtaking = overtake(first);
        time.advance(Duration.ofMillis(2));
        assertThat(gate.proceed(starving)).isFalse();

        gate.leave(overtaking);

        assertThat(gate.tryEnter(new Visitor())).isFalse();
        assertThat(gate.proceed(starving)).isTrue();
    }

    @Test
    void newcomersMayWalkInAgainOnceTheQueueWasEmpty() {
        Visitor first = inside();
        Visitor starving = waiting();
        Visitor overtaking = overtake(first);
        time.advance(Duration.ofMillis(2));
        gate.proceed(starving);
        gate.leave(overtaking);
        gate.leave(starving);

        newcomerMayWalkInAheadOfOneWhoHasJustBeenCalled();
    }

    @Test
    void readerIsNotLetInBesideAWriterWhenAnotherGivesUp() {
        inside();
        Visitor reader = new Visitor(Demand.shared());
        gate.enter(reader, time.nanoTime());
        Visitor impatient = waiting();

        gate.withdraw(impatient);

        assertThat(gate.proceed(reader)).isFalse();
    }

    @Test
    void oneWhoWasCalledInVainIsCalledAgain() {
        Visitor first = inside();
        Visitor patient = waiting();
        Visitor overtaking = overtake(first);
        assertThat(gate.proceed(patient)).isFalse();

        gate.leave(overtaking);

        assertThat(patient.calls).isEqualTo(2);
    }

    @Test
    void oneWhoWasCalledAndGivesUpPassesTheCallOn() {
        Visitor first = inside();
        Visitor impatient = waiting();
        Visitor next = waiting();
        gate.leave(first);
        assertThat(impatient.calls).isEqualTo(1);
        assertThat(next.calls).isZero();

        gate.withdraw(impatient);

        assertThat(next.calls).isEqualTo(1);
    }

    private Visitor overtake(Visitor before) {
        Visitor overtaking = new Visitor();
        gate.leave(before);
        assertThat(gate.tryEnter(overtaking)).isTrue();
        return overtaking;
    }

    private Visitor inside() {
        Visitor visitor = new Visitor();
        assertThat(gate.enter(visitor, time.nanoTime())).isTrue();
        return visitor;
    }

    private Visitor waiting() {
        Visitor visitor = new Visitor();
        assertThat(gate.enter(visitor, time.nanoTime())).isFalse();
        return visitor;
    }

    private static final class Visitor extends Gate.Entry<Object> {

        private int calls;

        Visitor() {
            this(Demand.exclusive());
        }

        Visitor(Demand demand) {
            super(demand);
        }

        @Override
        void wake() {
            calls++;
        }

        @Override
        boolean accepts(Object warm) {
            return false;
        }

        @Override
        void letGo(Object handedOver) {}
    }
}
