package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class MinimumTtlTest {

    @Test
    void withATtlOfTwoTicksThreadsOfAClientStillHandTheLockOnAmongThemselves() throws Exception {
        int threads = 4;
        int turns = 100;
        CountedRequests counted = new CountedRequests();
        ExecutorService workers = Executors.newFixedThreadPool(threads);
        try (ZooKeeperServer server = TestServers.single();
                TcpProxy proxy = TcpProxy.to(server.address(), counted);
                Holdfast holdfast = Holdfast.builder()
                        .store("zookeeper://127.0.0.1:" + proxy.port() + "/locks?tick=2s")
                        .defaults(LockOptions.defaults().withTtl(Duration.ofSeconds(4)))
                        .connect()) {
            DistributedLock lock = holdfast.lock("shortest");
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                all.add(workers.submit(() -> {
                    for (int turn = 0; turn < turns; turn++) {
                        lock.acquire().release();
                    }
                    return null;
                }));
            }
            for (Future<?> one : all) {
                one.get(60, SECONDS);
            }

            assertThat(counted.count("create2")).isLessThan(threads * turns);
        } finally {
            workers.shutdownNow();
        }
    }
}
