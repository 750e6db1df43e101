package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.servers.wire.TlsMaterial;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClusterClient;

class RedisClusterTest {

    private static RedisCluster cluster;

    @BeforeAll
    static void startCluster() {
        cluster = RedisCluster.start();
    }

    @AfterAll
    static void closeCluster() {
        cluster.close();
    }

    @Test
    void spreadsKeysOverItsShards() {
        await().atMost(Duration.ofSeconds(30)).until(() -> cluster.leaders().equals(cluster.nodes()));
        assertThat(cluster.nodes()).hasSize(3);
        assertThat(Stream.of("a", "b", "c", "d", "e", "f").map(cluster::primaryFor))
                .containsAll(cluster.nodes());
        try (RedisClusterClient client = client(cluster)) {
            for (int i = 0; i < 100; i++) {
                client.set("key" + i, "value" + i);
            }
            assertThat(client.get("key42")).isEqualTo("value42");
        }
    }

    @Test
    void nodeRestartedEmptyIsStillInTheCluster() {
        RedisServer node = cluster.primaryFor("key");
        try (RedisClusterClient client = client(cluster)) {
            client.set("key", "value");
        }

        node.restartEmpty();
        cluster.awaitWhole();

        assertThat(cluster.primaryFor("key")).isSameAs(node);
        try (RedisClusterClient client = client(cluster)) {
            assertThat(client.get("key")).isNull();
        }
    }

    @Test
    void promotesAReplicaWhenAPrimaryIsKilled() {
        try (RedisCluster replicated = RedisCluster.builder()
                .replicasPerShard(1)
                .nodeTimeout(Duration.ofSeconds(1))
                .start()) {
            RedisServer old = replicated.primaryFor("key");

            old.kill();

            assertThat(replicated.primaryFor("key")).isNotSameAs(old);
            replicated.awaitWhole();
            try (RedisClusterClient client = client(replicated)) {
                client.set("key", "value");
                assertThat(client.get("key")).isEqualTo("value");
            }
            old.restart();
            assertThat(replicated.nodes()).allMatch(Server::isRunning);
        }
    }

    @Test
    @Tag("full")
    void speaksTlsAmongItsNodesAndToClients() throws Exception {
        TlsMaterial tls = TlsMaterial.generate();
        try (RedisCluster secure =
                RedisCluster.builder().each(node -> node.tls(tls)).start()) {
            assertThat(secure.primaryFor("key").uri()).startsWith("rediss://");
            assertThat(secure.primaryFor("key").call("SET", "key", "value").text())
                    .isEqualTo("OK");
        }
    }

    private static RedisClusterClient client(RedisCluster target) {
        return RedisClusterClient.builder()
                .nodes(target.nodes().stream()
                        .filter(Server::isRunning)
                        .map(node -> new HostAndPort("127.0.0.1", node.port()))
                        .collect(Collectors.toSet()))
                .build();
    }
}
