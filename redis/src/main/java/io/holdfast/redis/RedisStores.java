package io.holdfast.redis;

import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreUri;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;

/**
 * Locks in Redis: {@code redis://}, {@code rediss://}, {@code redis-sentinel://} and {@code redis-cluster://}.
 *
 * <p>Thread-safe. Needs Redis 7.0 or Valkey; see {@code docs/stores/redis.md} for the parameters and for what Redis can and
 * cannot promise.
 */
public final class RedisStores implements StoreProvider {

    @Override
    public Set<String> schemes() {
        return Set.of("redis", "rediss");
    }

    @Override
    public String example() {
        return "redis://localhost:6379";
    }

    @Override
    public StoreFactory store(StoreUri uri) {
        RedisConfig config = RedisConfig.of(uri);
        return context -> new RedisStore(config, context, topology(config, context));
    }

    private static Topology topology(RedisConfig config, StoreContext context) {
        JedisClientConfig client = clientConfig(config, context);
        return new SingleServer(node(config.hosts().get(0), config, client));
    }

    private static Node node(HostAndPort server, RedisConfig config, JedisClientConfig client) {
        return new PooledNode(server, client, null, config.connections());
    }

    private static JedisClientConfig clientConfig(RedisConfig config, StoreContext context) {
        return DefaultJedisClientConfig.builder()
                .resp2()
                .autoNegotiateProtocol(false)
                .user(orNull(config.user()))
                .password(orNull(config.password()))
                .database(config.database())
                .clientName(clientName(context.clientName()))
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
                .build();
    }

    /** What CLIENT LIST shows; the server takes printable ASCII without spaces only. */
    private static String clientName(String name) {
        return "holdfast-" + name.replaceAll("[^!-~]", "_");
    }

    private static @Nullable String orNull(java.util.Optional<String> text) {
        return text.orElse(null);
    }
}
