package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Many who wait for one lock")
class CrowdTest {

    private static final Duration TTL = Duration.ofSeconds(60);

    /** The work of a turn is done by a few threads, however many wait. */
    private final ExecutorService threads = Executors.newFixedThreadPool(8);

    /** Beside the tests of other modules, which slow one round or the other: the best of a few is told from work that grows. */
    @Test
    void P9_aThousandAreServedAboutAsFastAsTen() throws Exception {
        assertThat(Collections.max(ratios(1_000, Duration.ofMillis(1_500)))).isGreaterThanOrEqualTo(0.5);
    }

    @Test
    @Tag("full")
    void P9_aThousandAreServedAlmostAsFastAsTen() throws Exception {
        assertThat(Collections.max(ratios(1_000, Duration.ofSeconds(10)))).isGreaterThanOrEqualTo(0.8);
    }

    @Test
    @Tag("full")
    void P9_fiveThousandAreServedAlmostAsFastAsTen() throws Exception {
        assertThat(Collections.max(ratios(5_000, Duration.ofSeconds(10)))).isGreaterThanOrEqualTo(0.8);
    }

    /** Of turns in equal times, in turns, so that other work of the machine slows both. */
    private List<Double> ratios(int many, Duration round) throws Exception {
        try (ZooKeeperServer server = TestServers.single();
                Crowd few = new Crowd(server, "few", 10);
                Crowd crowd = new Crowd(server, "crowd", many)) {
            await().atMost(Duration.ofSeconds(60)).until(() -> few.turns.get() > 200 && crowd.turns.get() > 200);
            List<Double> ratios = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                double ofFew = few.turnsWhileAlone(crowd, round);
                ratios.add(crowd.turnsWhileAlone(few, round) / ofFew);
            }
            return ratios;
        } finally {
            threads.shutdownNow();
        }
    }

    /** Four clients, each with a quarter of the tickets: whoever had its turn queues again. */
    private final class Crowd implements AutoCloseable {

        private final String lock;
        private final List<StoreBench> benches = new ArrayList<>();
        private final AtomicInteger turns = new AtomicInteger();
        private final AtomicBoolean paused = new AtomicBoolean();
        private final AtomicReference<Runnable> next = new AtomicReference<>();

        Crowd(ZooKeeperServer server, String lock, int tickets) throws Exception {
            this.lock = lock;
            for (int i = 0; i < 4; i++) {
                benches.add(StoreBench.at(TestServers.uri(server.connectString()), TTL));
            }
            for (int i = 0; i < tickets; i++) {
                StoreBench bench = benches.get(i % 4);
                threads.execute(() -> join(bench));
            }
        }

        private void join(StoreBench bench) {
            AtomicReference<Ticket> own = new AtomicReference<>();
            own.set(bench.ticket(lock, Demand.exclusive(), TTL, new Ticket.Listener() {
                @Override
                public void granted() {
                    threads.execute(() -> turn(bench, own.get()));
                }
            }));
            try {
                bench.store.request(own.get(), Mode.QUEUE, bench.soon());
            } catch (LockException closed) {
                // The test is over.
            }
        }

        private void turn(StoreBench bench, Ticket held) {
            turns.incrementAndGet();
            Runnable leave = () -> {
                held.end();
                bench.store.release(held, Duration.ZERO, bench.soon());
                join(bench);
            };
            next.set(leave);
            if (!paused.get()) {
                goOn();
            }
        }

        /** The holder leaves, once. */
        private void goOn() {
            Runnable leave = next.getAndSet(null);
            if (leave != null) {
                leave.run();
            }
        }

        int turnsWhileAlone(Crowd resting, Duration round) throws Exception {
            resting.paused.set(true);
            paused.set(false);
            int before = turns.get();
            threads.execute(this::goOn);
            await().pollDelay(round).atMost(round.multipliedBy(4)).until(() -> true);
            return turns.get() - before;
        }

        @Override
        public void close() {
            paused.set(true);
            benches.forEach(StoreBench::close);
        }
    }
}
