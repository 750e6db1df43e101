package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import java.time.Duration;
import java.util.List;

/** Waits for renewals, as the rows count them. */
final class RenewalCounts {

    private RenewalCounts() {}

    /** Until each of these has been renewed so often from now on. */
    static void untilAllAreRenewed(Database database, List<Lease> leases, int times) {
        List<Long> before =
                leases.stream().map(lease -> count(database, lease.name())).toList();
        await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
            for (int i = 0; i < leases.size(); i++) {
                String name = leases.get(i).name();
                assertThat(count(database, name))
                        .as("renewals of %s", name)
                        .isGreaterThanOrEqualTo(before.get(i) + times);
            }
        });
    }

    /** Of the lock's row if it is held alone, of its tickets if not. */
    private static long count(Database database, String name) {
        return database.number("SELECT l.renewals + COALESCE((SELECT SUM(t.renewals) FROM holdfast_lock_ticket t"
                + " WHERE t.name = l.name), 0) FROM holdfast_lock l WHERE l.name = '" + name + "'");
    }
}
