package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClusterClient;

class RedisClusterTest {

    @Test
    void spreadsKeysOverItsShards() {
        try (RedisCluster cluster = RedisCluster.start()) {
            assertThat(cluster.leaders()).isEqualTo(cluster.nodes()).hasSize(3);
            assertThat(Set.of("a", "b", "c", "d", "e", "f").stream()
                            .map(cluster::primaryFor)
                            .collect(Collectors.toSet()))
                    .hasSize(3);
            try (RedisClusterClient client = client(cluster)) {
                for (int i = 0; i < 100; i++) {
                    client.set("key" + i, "value" + i);
                }
                assertThat(client.get("key42")).isEqualTo("value42");
            }
        }
    }

    @Test
    void nodeRestartedEmptyIsStillInTheCluster() {
        try (RedisCluster cluster = RedisCluster.start()) {
            RedisServer node = cluster.primaryFor("key");
            try (RedisClusterClient client = client(cluster)) {
                client.set("key", "value");
                node.restartEmpty();
                cluster.awaitWhole();
            }
            assertThat(cluster.primaryFor("key")).isSameAs(node);
            try (RedisClusterClient client = client(cluster)) {
                assertThat(client.get("key")).isNull();
            }
        }
    }

    @Test
    void promotesAReplicaWhenAPrimaryIsKilled() {
        try (RedisCluster cluster = RedisCluster.builder()
                .replicasPerShard(1)
                .nodeTimeout(Duration.ofSeconds(1))
                .start()) {
            RedisServer old = cluster.primaryFor("key");

            old.kill();

            assertThat(cluster.primaryFor("key")).isNotSameAs(old);
            cluster.awaitWhole();
            try (RedisClusterClient client = client(cluster)) {
                client.set("key", "value");
                assertThat(client.get("key")).isEqualTo("value");
            }
            old.restart();
            assertThat(cluster.nodes()).allMatch(Server::isRunning);
        }
    }

    private static RedisClusterClient client(RedisCluster cluster) {
        return RedisClusterClient.builder()
                .nodes(cluster.nodes().stream()
                        .filter(Server::isRunning)
                        .map(node -> new HostAndPort("127.0.0.1", node.port()))
                        .collect(Collectors.toSet()))
                .build();
    }
}
