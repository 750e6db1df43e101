package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.servers.process.ServerStartException;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Test;

class ZooKeeperServerTest extends ServerContract<ZooKeeperServer> {

    @Override
    ZooKeeperServer start() {
        return ZooKeeperServer.start();
    }

    @Override
    void write(ZooKeeperServer server, String key, String value) throws Exception {
        try (ZooKeeper client = connect(server.connectString(), new ZKClientConfig())) {
            client.create(
                    "/" + key,
                    value.getBytes(StandardCharsets.UTF_8),
                    ZooDefs.Ids.OPEN_ACL_UNSAFE,
                    CreateMode.PERSISTENT);
        }
    }

    @Override
    String read(ZooKeeperServer server, String key) throws Exception {
        try (ZooKeeper client = connect(server.connectString(), new ZKClientConfig())) {
            return new String(client.getData("/" + key, false, null), StandardCharsets.UTF_8);
        } catch (KeeperException.NoNodeException e) {
            return "";
        }
    }

    @Test
    void bindsSessionsToItsTick() throws Exception {
        try (ZooKeeperServer quick =
                        ZooKeeperServer.builder().tick(Duration.ofMillis(200)).start();
                ZooKeeper client = connect(quick.connectString(), new ZKClientConfig())) {
            assertThat(client.getSessionTimeout()).isEqualTo(4_000);
        }
    }

    @Test
    void speaksTlsToAnybody() throws Exception {
        TlsMaterial tls = TlsMaterial.generate();
        try (ZooKeeperServer secure = ZooKeeperServer.builder().tls(tls).start();
                ZooKeeper client = connect("localhost:" + secure.port(), tlsConfig(tls))) {
            assertThat(client.getChildren("/", false)).contains("zookeeper");
        }
    }

    @Test
    void speaksTlsToHoldersOfACertificateOnly() throws Exception {
        TlsMaterial tls = TlsMaterial.generate();
        ZKClientConfig certified = tlsConfig(tls);
        certified.setProperty(
                "zookeeper.ssl.keyStore.location", tls.clientKeyStore().toString());
        certified.setProperty("zookeeper.ssl.keyStore.password", TlsMaterial.STORE_PASSWORD);
        try (ZooKeeperServer secure =
                        ZooKeeperServer.builder().tls(tls, TlsClients.CERTIFIED).start();
                ZooKeeper client = connect("localhost:" + secure.port(), certified);
                ZooKeeper stranger = new ZooKeeper("localhost:" + secure.port(), 30_000, event -> {}, tlsConfig(tls))) {
            assertThat(client.getChildren("/", false)).contains("zookeeper");
            assertThatThrownBy(() -> stranger.getChildren("/", false))
                    .isInstanceOf(KeeperException.ConnectionLossException.class);
        }
    }

    private static ZKClientConfig tlsConfig(TlsMaterial tls) {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
        config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
        config.setProperty("zookeeper.ssl.trustStore.location", tls.trustStore().toString());
        config.setProperty("zookeeper.ssl.trustStore.password", TlsMaterial.STORE_PASSWORD);
        return config;
    }

    @Test
    void quotesTheLogWhenItCannotStart() {
        assertThatThrownBy(
                        () -> ZooKeeperServer.builder().args("tickTime=often").start())
                .isInstanceOf(ServerStartException.class)
                .hasMessageContaining("often");
    }

    static ZooKeeper connect(String connectString, ZKClientConfig config) throws Exception {
        CountDownLatch connected = new CountDownLatch(1);
        ZooKeeper client = new ZooKeeper(
                connectString,
                30_000,
                event -> {
                    if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                        connected.countDown();
                    }
                },
                config);
        assertThat(connected.await(30, TimeUnit.SECONDS))
                .as("connected to " + connectString)
                .isTrue();
        return client;
    }
}
