package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.servers.process.ServerStartException;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import java.net.URI;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class RedisServerTest extends ServerContract<RedisServer> {

    @Override
    RedisServer start() {
        return RedisServer.builder().appendOnly(RedisServer.Fsync.ALWAYS).start();
    }

    @Override
    void write(RedisServer server, String key, String value) {
        try (Jedis jedis = new Jedis(URI.create(server.uri()))) {
            jedis.set(key, value);
        }
    }

    @Override
    String read(RedisServer server, String key) {
        try (Jedis jedis = new Jedis(URI.create(server.uri()))) {
            String value = jedis.get(key);
            return value == null ? "" : value;
        }
    }

    @Test
    void forgetsByDefaultWhatItWasToldBeforeARestart() {
        try (RedisServer forgetful = RedisServer.start()) {
            write(forgetful, "key", "value");
            forgetful.restart();
            assertThat(read(forgetful, "key")).isEmpty();
        }
    }

    @Test
    void asksForItsPassword() {
        try (RedisServer guarded = RedisServer.builder().password("secret").start()) {
            assertThatThrownBy(() -> {
                        try (Jedis stranger = new Jedis("127.0.0.1", guarded.port())) {
                            stranger.get("key");
                        }
                    })
                    .isInstanceOf(JedisDataException.class)
                    .hasMessageContaining("NOAUTH");
            write(guarded, "key", "value");
            assertThat(read(guarded, "key")).isEqualTo("value");
        }
    }

    @Test
    void limitsUsersByItsAclFile() {
        try (RedisServer guarded = RedisServer.builder()
                        .acl("user default off", "user alice on >secret ~holdfast:* +get +set")
                        .start();
                Jedis alice = new Jedis(
                        new HostAndPort("127.0.0.1", guarded.port()),
                        DefaultJedisClientConfig.builder()
                                .user("alice")
                                .password("secret")
                                .build())) {
            alice.set("holdfast:a", "1");
            assertThat(alice.get("holdfast:a")).isEqualTo("1");
            assertThatThrownBy(() -> alice.set("other", "1")).hasMessageContaining("NOPERM");
        }
    }

    @Test
    void speaksTlsToHoldersOfACertificateOnly() {
        TlsMaterial tls = TlsMaterial.generate();
        try (RedisServer secure =
                RedisServer.builder().tls(tls, TlsClients.CERTIFIED).start()) {
            SslOptions certified = SslOptions.builder()
                    .truststore(tls.trustStore().toFile(), TlsMaterial.STORE_PASSWORD.toCharArray())
                    .keystore(tls.clientKeyStore().toFile(), TlsMaterial.STORE_PASSWORD.toCharArray())
                    .trustStoreType("PKCS12")
                    .keyStoreType("PKCS12")
                    .build();
            SslOptions anonymous = SslOptions.builder()
                    .truststore(tls.trustStore().toFile(), TlsMaterial.STORE_PASSWORD.toCharArray())
                    .trustStoreType("PKCS12")
                    .build();

            try (Jedis jedis = tlsClient(secure, certified)) {
                assertThat(jedis.ping()).isEqualTo("PONG");
            }
            assertThatThrownBy(() -> {
                        try (Jedis jedis = tlsClient(secure, anonymous)) {
                            jedis.ping();
                        }
                    })
                    .isInstanceOf(JedisConnectionException.class);
        }
    }

    @Test
    void speaksTlsToAnybody() {
        TlsMaterial tls = TlsMaterial.generate();
        SslOptions anonymous = SslOptions.builder()
                .truststore(tls.trustStore().toFile(), TlsMaterial.STORE_PASSWORD.toCharArray())
                .trustStoreType("PKCS12")
                .build();
        try (RedisServer secure = RedisServer.builder().tls(tls).start();
                Jedis jedis = tlsClient(secure, anonymous)) {
            assertThat(jedis.ping()).isEqualTo("PONG");
        }
    }

    @Test
    void takesFurtherArguments() {
        try (RedisServer debug = RedisServer.builder()
                        .args("--enable-debug-command", "local")
                        .maxMemory("50mb", "allkeys-lru")
                        .start();
                Jedis jedis = new Jedis(URI.create(debug.uri()))) {
            assertThat(jedis.configGet("enable-debug-command")).containsEntry("enable-debug-command", "local");
            assertThat(jedis.configGet("maxmemory-policy")).containsEntry("maxmemory-policy", "allkeys-lru");
        }
    }

    @Test
    void quotesTheLogWhenItCannotStart() {
        assertThatThrownBy(() ->
                        RedisServer.builder().args("--no-such-option", "1").start())
                .isInstanceOf(ServerStartException.class)
                .hasMessageContaining("exit code 1")
                .hasMessageContaining("Bad directive or wrong number of arguments");
    }

    private static Jedis tlsClient(RedisServer server, SslOptions options) {
        return new Jedis(
                new HostAndPort("localhost", server.port()),
                DefaultJedisClientConfig.builder().sslOptions(options).build());
    }
}
