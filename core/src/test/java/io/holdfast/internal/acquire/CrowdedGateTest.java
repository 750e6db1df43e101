package io.holdfast.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A gate with a crowd inside")
class CrowdedGateTest {

    private static final int CROWD = 400_000;

    /** Walking through all who are inside for each takes minutes. */
    @Test
    @Timeout(30)
    @DisplayName("P9 lets readers in and out as fast as an empty one")
    void letsReadersInAndOutAsFastAsAnEmptyOne() {
        Gate<Object> gate = new Gate<>(TimeSource.system());
        List<Reader> crowd = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            Reader reader = new Reader();
            assertThat(gate.tryEnter(reader)).isTrue();
            crowd.add(reader);
        }

        crowd.forEach(gate::leave);

        assertThat(gate.isUnused()).isTrue();
    }

    private static final class Reader extends Gate.Entry<Object> {

        Reader() {
            super(Demand.shared());
        }

        @Override
        void wake() {}

        @Override
        void letGo(Object handedOver) {}

        @Override
        boolean accepts(Object warm) {
            return false;
        }
    }
}
