package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.servers.EtcdServer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Handing a lock on in etcd")
class HandoffTest {

    /** Of several rounds the best counts: a watch that waits does so in all of them, a busy machine stalls some. */
    private static final int ROUNDS = 4;

    private static final int HANDOFFS = 100;

    /** How long etcd lets a watch wait that starts in the past; half of it is far above a handoff on a slow machine. */
    private static final double STALL_MILLIS = 50;

    @ParameterizedTest
    @ValueSource(ints = {2, 16})
    void p6NobodyWaitsInTheGroupOfUnsyncedWatchers(int clients) {
        String name = "lock-" + UUID.randomUUID();
        List<TestClient> all = new ArrayList<>();
        try (EtcdServer server = EtcdServer.start()) {
            Deque<TestTicket> line = new ArrayDeque<>();
            Deque<TestClient> order = new ArrayDeque<>();
            for (int i = 0; i < clients; i++) {
                TestClient client = TestClient.of("etcd://127.0.0.1:" + server.port());
                all.add(client);
                order.add(client);
                line.add(client.enqueue(name));
            }
            TestTicket held = line.remove().arrived();
            double best = Double.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                double[] millis = new double[HANDOFFS];
                for (int i = 0; i < HANDOFFS; i++) {
                    TestClient holder = order.remove();
                    long before = System.nanoTime();
                    holder.release(held);
                    held = line.remove().arrived();
                    millis[i] = (System.nanoTime() - before) / (double) TimeUnit.MILLISECONDS.toNanos(1);
                    order.add(holder);
                    line.add(holder.enqueue(name));
                }
                Arrays.sort(millis);
                System.out.printf(
                        "etcd handoff, %d clients, release to grant in ms: p50 %.2f, p90 %.2f, max %.2f%n",
                        clients, millis[HANDOFFS / 2], millis[HANDOFFS * 9 / 10], millis[HANDOFFS - 1]);
                best = Math.min(best, millis[HANDOFFS * 9 / 10]);
            }
            assertThat(best).as("p90 of the best round").isLessThan(STALL_MILLIS);
        } finally {
            all.forEach(TestClient::close);
        }
    }
}
