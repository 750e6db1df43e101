package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ZooKeeperEnsembleTest {

    private static ZooKeeperEnsemble ensemble;

    @BeforeAll
    static void startEnsemble() {
        ensemble = ZooKeeperEnsemble.start();
    }

    @AfterAll
    static void closeEnsemble() {
        ensemble.close();
    }

    @Test
    void hasOneLeaderAndFollowers() {
        await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> {
            assertThat(ensemble.leaders()).hasSize(1);
            assertThat(ensemble.followers()).hasSize(2).doesNotContain(ensemble.leader());
        });
    }

    @Test
    void electsAnotherLeaderWhenTheLeaderIsKilledAndTakesItBack() throws Exception {
        ZooKeeperServer old = ensemble.leader();
        old.kill();

        assertThat(ensemble.leader()).isNotSameAs(old);
        create(ensemble.connectString(), "/failover");

        old.restart();
        assertThat(exists(old, "/failover")).isTrue();
    }

    @Test
    void memberThatLostItsDataGetsItFromTheOthers() throws Exception {
        create(ensemble.connectString(), "/disk");
        ZooKeeperServer lost = ensemble.followers().get(0);

        lost.restartEmpty();

        assertThat(exists(lost, "/disk")).isTrue();
    }

    private static void create(String connectString, String path) throws Exception {
        try (ZooKeeper client = ZooKeeperServerTest.connect(connectString, new ZKClientConfig())) {
            client.create(path, new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        }
    }

    private static boolean exists(ZooKeeperServer node, String path) throws Exception {
        try (ZooKeeper client = ZooKeeperServerTest.connect(node.connectString(), new ZKClientConfig())) {
            return client.exists(path, false) != null;
        }
    }
}
