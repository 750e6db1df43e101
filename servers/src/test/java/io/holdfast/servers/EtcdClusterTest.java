package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.servers.wire.TlsMaterial;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class EtcdClusterTest {

    private static EtcdCluster cluster;

    @BeforeAll
    static void startCluster() {
        cluster = EtcdCluster.start();
    }

    @AfterAll
    static void closeCluster() {
        cluster.close();
    }

    @Test
    void everyMemberSeesWhatAnotherWrote() throws Exception {
        put("shared", "value");
        for (EtcdServer node : cluster.nodes()) {
            assertThat(get(node, "shared")).isEqualTo("value");
        }
    }

    @Test
    void electsAnotherLeaderWhenTheLeaderIsKilledAndTakesItBack() throws Exception {
        EtcdServer old = cluster.leader();
        old.kill();

        assertThat(cluster.leader()).isNotSameAs(old);
        await().atMost(Duration.ofSeconds(30)).until(() -> cluster.leaders().size() == 1);
        put("failover", "value");

        old.restart();
        assertThat(get(old, "failover")).isEqualTo("value");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(
                        () -> assertThat(cluster.followers()).contains(old).hasSize(2));
    }

    @Test
    void memberRestartsThoughTheOthersAreDownAndServesWhenTheyAreBack() throws Exception {
        List<EtcdServer> nodes = cluster.nodes();
        put("blackout", "value");
        nodes.forEach(EtcdServer::kill);

        nodes.get(0).restart();
        assertThat(nodes.get(0).isRunning()).isTrue();
        assertThat(cluster.leaders()).isEmpty();

        nodes.get(1).restart();
        nodes.get(2).restart();
        assertThat(get(nodes.get(0), "blackout")).isEqualTo("value");
    }

    @Test
    void memberThatLostItsDataIsTakenInAgain() throws Exception {
        put("disk", "value");
        EtcdServer lost = cluster.followers().get(0);

        lost.restartEmpty();

        assertThat(get(lost, "disk")).isEqualTo("value");
        cluster.leader();
    }

    @Test
    @Tag("full")
    void servesClientsOverTls() throws Exception {
        TlsMaterial tls = TlsMaterial.generate();
        try (EtcdCluster secure =
                EtcdCluster.builder().each(node -> node.tls(tls)).start()) {
            String endpoints = String.join(",", secure.endpoints());
            String authority = tls.authorityCertificate().toString();
            assertThat(EtcdServerTest.etcdctl("--cacert", authority, "--endpoints", endpoints, "put", "key", "value"))
                    .contains("OK");
        }
    }

    private static void put(String key, String value) throws Exception {
        EtcdServerTest.etcdctl("--endpoints", String.join(",", cluster.endpoints()), "put", key, value);
    }

    private static String get(EtcdServer node, String key) throws Exception {
        return EtcdServerTest.etcdctl("--endpoints", node.endpoint(), "get", "--print-value-only", key)
                .strip();
    }
}
