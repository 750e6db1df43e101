package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
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

    @Test
    void P9_aTurnOfAThousandTakesOneCreationAndOneDeletionAndNoListing() throws Exception {
        CountedRequests counted = new CountedRequests();
        try (ZooKeeperServer server = TestServers.single();
                TcpProxy proxy = TcpProxy.to(server.address(), counted);
                Crowd crowd = new Crowd("127.0.0.1:" + proxy.port(), "crowd", 1_000)) {
            await().atMost(Duration.ofSeconds(60)).until(() -> crowd.joined.get() >= 1_000 && crowd.turns.get() > 200);
            counted.sinceLastAsked();
            int before = crowd.turns.get();
            await().atMost(Duration.ofSeconds(60)).until(() -> crowd.turns.get() > before + 1_000);
            Map<String, Integer> sent = counted.sinceLastAsked();
            int turns = crowd.turns.get() - before;

            assertThat(sent).doesNotContainKeys("getChildren2", "addWatch", "removeWatches");
            // A turn or two may be under way; this counts the beginnings of turns.
            assertThat(sent.get("create2")).isBetween(turns - 100, turns + 100);
            assertThat(sent.get("delete")).isBetween(turns - 100, turns + 100);
        } finally {
            threads.shutdownNow();
        }
    }

    /** The best of a few is told from work that grows with the crowd. */
    @Test
    @Tag("alone")
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
                Crowd few = new Crowd(server.connectString(), "few", 10);
                Crowd crowd = new Crowd(server.connectString(), "crowd", many)) {
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
        private final AtomicInteger joined = new AtomicInteger();
        private final AtomicInteger turns = new AtomicInteger();
        private final AtomicBoolean paused = new AtomicBoolean();
        private final AtomicReference<Runnable> next = new AtomicReference<>();

        Crowd(String connectString, String lock, int tickets) throws Exception {
            this.lock = lock;
            for (int i = 0; i < 4; i++) {
                benches.add(StoreBench.at(TestServers.uri(connectString), TTL));
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
                joined.incrementAndGet();
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
