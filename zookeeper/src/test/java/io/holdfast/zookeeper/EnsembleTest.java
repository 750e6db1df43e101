package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.ReleaseResult;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperEnsemble;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.zookeeper.StoreBench.Renewed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Three servers")
class EnsembleTest {

    /** Outlasts an election on a busy machine. */
    private static final Duration TTL = Duration.ofSeconds(60);

    private static ZooKeeperEnsemble ensemble;

    @BeforeAll
    static void start() {
        ensemble = ZooKeeperEnsemble.builder().each(TestServers::options).start();
    }

    @AfterAll
    static void stop() {
        ensemble.close();
    }

    @BeforeEach
    void bringUp() {
        ensemble.nodes().stream().filter(node -> !node.isRunning()).forEach(ZooKeeperServer::restart);
    }

    @Test
    void aSessionThatMovesToAnotherServerKeepsItsLocksAndItsTickets() throws Exception {
        List<ZooKeeperServer> nodes = ensemble.nodes();
        try (TcpProxy proxy = TcpProxy.to(nodes.get(0).address());
                StoreBench moving = StoreBench.at(TestServers.uri("127.0.0.1:" + proxy.port()), TTL);
                StoreBench resting = StoreBench.at(TestServers.uri(ensemble.connectString()), TTL)) {
            TestTicket held = moving.acquire("carried");
            TestTicket ahead = resting.acquire("awaited");
            TestTicket waiter = moving.queue("awaited");

            proxy.retarget(nodes.get(1).address());
            proxy.resetConnections();

            assertThat(moving.renew(held)).isEqualTo(Renewed.KEPT);
            resting.release(ahead);
            assertThat(waiter.grants.poll(30, SECONDS)).isNotNull();
            assertThat(moving.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
            assertThat(held.losses).isEmpty();
            assertThat(waiter.losses).isEmpty();
        }
    }

    @Test
    void aKilledLeaderCostsNobodyTheirLockAndTheQueueGoesOn() throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        AtomicInteger rounds = new AtomicInteger();
        AtomicLong lastToken = new AtomicLong();
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Holdfast> clients = new ArrayList<>();
        List<Future<?>> workers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Holdfast client = Holdfast.builder()
                    .store(TestServers.uri(ensemble.connectString()))
                    .defaults(LockOptions.defaults().withTtl(TTL))
                    .connect();
            clients.add(client);
            workers.add(threads.submit(() -> {
                while (!enough.get()) {
                    try (Lease lease = client.lock("busy").acquire()) {
                        long before = lastToken.getAndSet(lease.token());
                        if (inside.incrementAndGet() > 1 || before >= lease.token()) {
                            overlaps.incrementAndGet();
                        }
                        Thread.yield();
                        inside.decrementAndGet();
                        rounds.incrementAndGet();
                    } catch (LockException unavailableForNow) {
                        // Asked while there was no leader: the next round asks again.
                    }
                }
                return null;
            }));
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> rounds.get() > 50);
        Lease held = clients.get(0).lock("kept-across").acquire();

        ensemble.leader().kill();
        int atTheKill = rounds.get();
        await().atMost(Duration.ofSeconds(60)).until(() -> rounds.get() > atTheKill + 50);
        enough.set(true);
        for (Future<?> worker : workers) {
            worker.get(60, SECONDS);
        }
        held.extend(TTL.dividedBy(2));
        assertThat(held.release()).isEqualTo(ReleaseResult.RELEASED);
        clients.forEach(Holdfast::close);
        threads.shutdownNow();

        assertThat(overlaps).hasValue(0);
    }

    @Test
    void withoutAQuorumNothingIsGrantedNothingIsLostAndWithItAllGoesOn() throws Exception {
        List<ZooKeeperServer> nodes = ensemble.nodes();
        try (StoreBench bench = StoreBench.at(TestServers.uri(ensemble.connectString()), TTL)) {
            TestTicket held = bench.acquire("kept");
            TestTicket waiting = bench.queue("kept");

            nodes.get(0).kill();
            nodes.get(1).kill();

            assertThat(bench.renew(held, bench.within(Duration.ofSeconds(2)))).isEqualTo(Renewed.FAILING);
            assertThatThrownBy(() -> bench.refusal("other", bench.within(Duration.ofSeconds(1))))
                    .isInstanceOf(LockException.class);
            assertThat(held.losses).isEmpty();
            assertThat(waiting.losses).isEmpty();

            nodes.get(0).restart();
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> bench.renew(held) == Renewed.KEPT && bench.renew(waiting) == Renewed.KEPT);
            bench.release(held);
            assertThat(waiting.grants.poll(30, SECONDS)).isNotNull();
        }
    }
}
