package io.holdfast.spi;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import java.util.List;
import org.junit.jupiter.api.Test;

class AdmissionTest {

    private static final Demand X = Demand.exclusive();
    private static final Demand S = Demand.shared();

    @Test
    void exclusiveIsAdmittedOnlyAlone() {
        assertThat(admitted(X, X, S)).isEqualTo(1);
        assertThat(admitted(S, X, S)).isEqualTo(1);
    }

    @Test
    void leadingRunOfSharedIsAdmitted() {
        assertThat(admitted(S, S, S, X, S)).isEqualTo(3);
    }

    @Test
    void permitsAreAdmittedWhileTheyFitTheSmallestTotalSoFar() {
        assertThat(admitted(permits(2, 5), permits(2, 5), permits(1, 5), permits(1, 5)))
                .isEqualTo(3);
        assertThat(admitted(permits(2, 5), permits(1, 2))).isEqualTo(1);
        assertThat(admitted(permits(1, 2), permits(2, 5), permits(1, 5))).isEqualTo(1);
    }

    @Test
    void kindsDoNotMix() {
        assertThat(admitted(S, permits(1, 5))).isEqualTo(1);
        assertThat(admitted(permits(1, 5), S)).isEqualTo(1);
        assertThat(admitted(X, permits(1, 5))).isEqualTo(1);
    }

    @Test
    void whoeverIsNotAdmittedIsNotOvertaken() {
        assertThat(admitted(permits(2, 3), permits(2, 3), permits(1, 3))).isEqualTo(1);
    }

    private static Demand permits(int count, int total) {
        return Demand.permits(count, total);
    }

    private static int admitted(Demand... line) {
        Admission admission = new Admission();
        int count = 0;
        boolean ended = false;
        for (Demand demand : List.of(line)) {
            boolean admits = admission.admit(demand);
            assertThat(admits && ended)
                    .as("nobody is admitted after the walk ended")
                    .isFalse();
            ended |= !admits;
            count += admits ? 1 : 0;
        }
        return count;
    }
}
