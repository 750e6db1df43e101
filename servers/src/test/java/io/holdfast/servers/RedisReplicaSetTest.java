package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.servers.wire.TlsMaterial;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisSentinelClient;

class RedisReplicaSetTest {

    @Test
    void promotesAReplicaWhenThePrimaryIsKilledAndIsNotFooledByItsReturn() {
        try (RedisReplicaSet set = RedisReplicaSet.builder()
                .downAfter(Duration.ofSeconds(3))
                .each(node -> node.password("secret"))
                .start()) {
            RedisServer old = set.primary();
            assertThat(set.replicas()).hasSize(2);
            try (RedisSentinelClient client = client(set)) {
                client.set("key", "value");
            }
            try (Jedis jedis = new Jedis(URI.create(old.uri()))) {
                assertThat(jedis.waitReplicas(2, 20_000)).isEqualTo(2);
            }

            old.kill();

            RedisServer promoted = set.primary();
            assertThat(promoted).isNotSameAs(old);
            // A client may ask the Sentinel that has not heard of it yet.
            await().atMost(Duration.ofSeconds(30)).ignoreExceptions().untilAsserted(() -> {
                try (RedisSentinelClient client = client(set)) {
                    assertThat(client.get("key")).isEqualTo("value");
                }
            });
            old.restart();
            // It may still take itself for the primary; the Sentinels know better.
            assertThat(set.leaders()).doesNotContain(old);
            await().atMost(Duration.ofSeconds(30)).until(() -> set.leaders().equals(List.of(promoted)));
        }
    }

    @Test
    void replicatesWithoutSentinelsToo() {
        try (RedisReplicaSet set =
                RedisReplicaSet.builder().replicas(1).sentinels(0).start()) {
            try (Jedis primary = new Jedis(URI.create(set.primary().uri()))) {
                primary.set("key", "value");
                assertThat(primary.waitReplicas(1, 20_000)).isEqualTo(1);
            }
            try (Jedis replica = new Jedis(URI.create(set.replicas().get(0).uri()))) {
                assertThat(replica.get("key")).isEqualTo("value");
            }
        }
    }

    @Test
    @Tag("full")
    void speaksTlsToItsSentinelsToo() {
        TlsMaterial tls = TlsMaterial.generate();
        try (RedisReplicaSet set = RedisReplicaSet.builder()
                .replicas(1)
                .sentinels(1)
                .each(node -> node.tls(tls))
                .start()) {
            assertThat(set.primary().uri()).startsWith("rediss://");
        }
    }

    private static RedisSentinelClient client(RedisReplicaSet set) {
        Set<HostAndPort> sentinels = set.sentinels().stream()
                .map(sentinel -> new HostAndPort("127.0.0.1", sentinel.port()))
                .collect(Collectors.toSet());
        return RedisSentinelClient.builder()
                .masterName(set.masterName())
                .sentinels(sentinels)
                .clientConfig(
                        DefaultJedisClientConfig.builder().password("secret").build())
                .build();
    }
}
