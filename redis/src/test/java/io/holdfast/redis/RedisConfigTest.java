package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.StoreUri;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.HostAndPort;

class RedisConfigTest {

    private static RedisConfig of(String uri) {
        return RedisConfig.of(StoreUri.parse(uri));
    }

    @Test
    void readsEverythingFromTheUri() {
        RedisConfig config = of(
                "rediss://me:s%40cret@redis.example:7000/3?prefix=app:&timeout=500ms&connections=9&replicas=1&counter-life=2d"
                        + "&tls-ca=/etc/ca.pem");

        assertThat(config.hosts()).containsExactly(new HostAndPort("redis.example", 7000));
        assertThat(config.login().user()).contains("me");
        assertThat(config.login().password()).contains("s@cret");
        assertThat(config.database()).isEqualTo(3);
        assertThat(config.prefix()).isEqualTo("app:");
        assertThat(config.timeout()).isEqualTo(Duration.ofMillis(500));
        assertThat(config.connections()).isEqualTo(9);
        assertThat(config.replicas()).isEqualTo(1);
        assertThat(config.counterLife()).isEqualTo(Duration.ofDays(2));
        assertThat(config.tls()).isPresent();
        assertThat(config.store()).doesNotContain("cret");
    }

    @Test
    void sentinelsNameTheirPrimary() {
        RedisConfig config = of("redis-sentinel://h1,h2:5000/mymaster?database=2&sentinel-password=x");

        assertThat(config.hosts()).containsExactly(new HostAndPort("h1", 26379), new HostAndPort("h2", 5000));
        assertThat(config.master()).isEqualTo("mymaster");
        assertThat(config.database()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "redis://",
                "redis://h1,h2",
                "redis://h/zero",
                "redis://h/-1",
                "redis://h?colour=red",
                "redis://h?prefix=a{b}",
                "redis://h?prefix=a%09b",
                "redis://h?prefix=a%20b",
                "redis://h?counter-life=1s",
                "redis://h?timeout=0s",
                "redis://h?connections=0",
                "redis://h?replicas=-1",
                "redis://h?tls-ca=/etc/ca.pem",
                "rediss://h?tls-cert=/etc/cert.pem",
                "redis-sentinel://h1,h2",
                "redis-cluster://h1/1"
            })
    void saysWhatIsWrong(String uri) {
        assertThatThrownBy(() -> of(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("redis");
    }
}
