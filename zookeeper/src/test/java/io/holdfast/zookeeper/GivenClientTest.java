package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.zookeeper.StoreBench.Renewed;
import java.time.Duration;
import java.util.concurrent.Future;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class GivenClientTest {

    /** What the client of {@link TestServers} asks for. */
    private static final Duration TTL = Duration.ofSeconds(30);

    private static ZooKeeperServer server;

    @BeforeAll
    static void startServer() {
        server = TestServers.single();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @Test
    void itsSessionHoldsTheLocksAndOutlivesTheStore() throws Exception {
        ZooKeeper client = TestServers.client(server.connectString());
        try (StoreBench bench = new StoreBench(around(client), TTL)) {
            TestTicket grant = bench.acquire("borrowed");
            TestTicket waiter = bench.queue("borrowed");

            assertThat(grant.ticket.givenTtl()).isEqualTo(TTL);
            assertThat(bench.renew(grant)).isEqualTo(Renewed.KEPT);
            bench.release(grant);
            assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
        }
        assertThat(client.getState().isAlive()).isTrue();
        client.close();
    }

    @Test
    void aTtlOtherThanItsSessionTimeoutIsAnError() throws Exception {
        ZooKeeper client = TestServers.client(server.connectString());
        try (StoreBench bench = new StoreBench(around(client), Duration.ofSeconds(10))) {
            assertThatThrownBy(() -> bench.refusal("borrowed"))
                    .isInstanceOf(UnsupportedLockException.class)
                    .hasMessageContaining("30000 ms");
        } finally {
            client.close();
        }
    }

    @Test
    void itsEndIsToldAndNoOtherSessionIsBuilt() throws Exception {
        ZooKeeper client = TestServers.client(server.connectString());
        try (StoreBench bench = new StoreBench(around(client), TTL)) {
            TestTicket grant = bench.acquire("ended");
            client.close();

            assertThat(grant.losses.poll(20, SECONDS)).isNotNull();
            assertThat(bench.renew(grant)).isEqualTo(Renewed.GONE);
            assertThatThrownBy(() -> bench.refusal("ended", bench.within(Duration.ofSeconds(5))))
                    .isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void P5_itsEndIsToldThoughItsConnectionBrokeWhenItWasGiven() throws Exception {
        CountedRequests counted = new CountedRequests();
        try (TcpProxy proxy = TcpProxy.to(server.address(), counted)) {
            ZooKeeper client = TestServers.client("127.0.0.1:" + proxy.port());
            proxy.cut();
            try (StoreBench bench = new StoreBench(around(client), TTL)) {
                Future<TestTicket> acquired = bench.elsewhere(() -> bench.acquire("broken"));
                await().until(() -> counted.sinceLastAsked().containsKey("setData"));
                proxy.resetConnections();
                proxy.heal();
                TestTicket held = acquired.get(20, SECONDS);

                client.close();

                assertThat(held.losses.poll(10, SECONDS)).isNotNull();
            }
        }
    }

    private static StoreFactory around(ZooKeeper client) {
        return ZooKeeperStores.using(client, "/given", TestServers.TICK, Ids.OPEN_ACL_UNSAFE);
    }
}
