package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.StoreUnavailableException;
import io.holdfast.servers.ZooKeeperEnsemble;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.ReleaseAnswer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("full")
class ReadOnlyServerTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    /** Servers let clients in read-only only with sessions they keep for themselves: locks must do with those too. */
    @Test
    void aReadOnlyServerGrantsNothing() throws Exception {
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.builder()
                .each(node -> TestServers.options(node)
                        .args("localSessionsEnabled=true", "localSessionsUpgradingEnabled=true")
                        .env("JAVA_TOOL_OPTIONS", "-Dreadonlymode.enabled=true"))
                .start()) {
            List<ZooKeeperServer> nodes = ensemble.nodes();
            try (StoreBench bench = StoreBench.at(TestServers.uri(ensemble.connectString()), TTL)) {
                Assertions.assertThat(bench.release(bench.acquire("x"))).isEqualTo(ReleaseAnswer.RELEASED);
            }
            nodes.get(0).kill();
            nodes.get(1).kill();
            // Whoever connects while it still takes itself for part of a majority has a session that it then forgets.
            await().atMost(Duration.ofSeconds(60)).until(() -> isReadOnly(nodes.get(2)));
            ZooKeeper reader = new ZooKeeper(nodes.get(2).connectString(), (int) TTL.toMillis(), event -> {}, true);
            await().atMost(Duration.ofSeconds(60)).until(() -> reader.getState() == ZooKeeper.States.CONNECTEDREADONLY);
            try (StoreBench around = new StoreBench(
                            ZooKeeperStores.using(reader, "/locks", TestServers.TICK, Ids.OPEN_ACL_UNSAFE), TTL);
                    StoreBench own = StoreBench.at(TestServers.uri(nodes.get(2).connectString()), TTL)) {
                assertThatThrownBy(() -> around.refusal("read-only", around.within(Duration.ofSeconds(2))))
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("read-only");
                assertThatThrownBy(() -> own.refusal("read-only", own.within(Duration.ofSeconds(2))))
                        .isInstanceOf(StoreUnavailableException.class);
            } finally {
                reader.close();
            }
        }
    }

    private static boolean isReadOnly(ZooKeeperServer server) throws Exception {
        try {
            return FourLetterWordMain.send4LetterWord("127.0.0.1", server.port(), "isro")
                    .trim()
                    .equals("ro");
        } catch (IOException notNow) {
            return false;
        }
    }
}
