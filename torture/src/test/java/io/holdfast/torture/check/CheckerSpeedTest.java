package io.holdfast.torture.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("the checker's speed")
class CheckerSpeedTest {

    private static final int MILLION = 1_000_000;

    /** Counts the time in which this thread runs: others may want the processor too. */
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    @Test
    void tenTimesTheLeasesTakeAboutTenTimesAsLong() {
        nanosFor(MILLION / 10);
        long few = nanosFor(MILLION / 10);
        long many = nanosFor(MILLION);
        System.out.println("A million leases checked in " + many / 1_000_000 + " ms, a tenth of them in "
                + few / 1_000_000 + " ms");

        // Quadratic time would take a hundred times as long; what the caches do not hold may cost a few times ten.
        assertThat(many).isLessThan(Math.max(few, 20_000_000) * 50);
    }

    private static long nanosFor(int count) {
        List<Tenure> tenures = handedOn(count);
        Findings findings = new Findings();
        long start = THREADS.getCurrentThreadCpuTime();
        Checker.checkLeases("orders", tenures, findings);
        long took = THREADS.getCurrentThreadCpuTime() - start;
        assertThat(findings.all().get(Promise.EXCLUSION).outcome()).isEqualTo(Finding.Outcome.HELD);
        return took;
    }

    /** Readers and writers in turn, each waiting for a while, in no particular order. */
    private static List<Tenure> handedOn(int count) {
        List<Tenure> tenures = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            Demand demand = i % 4 == 0 ? Demand.exclusive() : Demand.shared();
            long at = i / 4 * 40L + (i % 4 == 0 ? 0 : 20);
            tenures.add(new Tenure(demand, i + 1, at - 200, at + 1, at + 10, at + 9, List.of()));
        }
        Collections.shuffle(tenures, new Random(7));
        return tenures;
    }
}
