package io.holdfast.redis;

import io.holdfast.quorum.QuorumStore;
import io.holdfast.redis.server.ClusterServers;
import io.holdfast.redis.server.GivenClientNode;
import io.holdfast.redis.server.Node;
import io.holdfast.redis.server.PooledNode;
import io.holdfast.redis.server.SentinelServers;
import io.holdfast.redis.server.SingleServer;
import io.holdfast.redis.server.TlsFiles;
import io.holdfast.redis.server.Topology;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreProvider;
import io.holdfast.spi.StoreUri;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisProtocol;

/**
 * Locks in Redis: {@code redis://}, {@code rediss://}, {@code redis-sentinel://}, {@code redis-cluster://}, and
 * {@code redlock://} over several servers that know nothing of each other.
 *
 * <p>Thread-safe. Needs Redis 7.0 or Valkey; see {@code docs/stores/redis.md} for the parameters and for what Redis can and
 * cannot promise.
 */
public final class RedisStores implements StoreProvider {

    /**
     * Uses the connections of a client you already have, which stays yours to close. One of them is kept for listening as long
     * as the store is open, so its pool must have room. Each request reads by its own deadline and gives the connection back as
     * it was.
     */
    public static StoreFactory using(RedisClient client) {
        return using(client, RedisConfig.DEFAULT_PREFIX);
    }

    /** The same with another prefix than {@code holdfast:}. */
    public static StoreFactory using(RedisClient client, String prefix) {
        RedisConfig config = RedisConfig.ofGivenClient(prefix);
        return context -> new RedisStore(config, context, new SingleServer(new GivenClientNode(client.getPool())));
    }

    @Override
    public Set<String> schemes() {
        return Set.of("redis", "rediss", "redis-sentinel", "redis-cluster", "redlock");
    }

    @Override
    public String example() {
        return "redis://localhost:6379";
    }

    @Override
    public StoreFactory store(StoreUri uri) {
        RedisConfig config = RedisConfig.of(uri);
        Optional<SSLSocketFactory> tls = config.tls().map(TlsFiles::sockets);
        if (config.shape() == RedisConfig.Shape.QUORUM) {
            return quorum(uri, config, tls);
        }
        return single(config, tls);
    }

    private static StoreFactory quorum(StoreUri uri, RedisConfig config, Optional<SSLSocketFactory> tls) {
        List<StoreFactory> nodes =
                config.servers().stream().map(server -> single(server, tls)).toList();
        QuorumStore.Factory quorum = QuorumStore.of(nodes);
        return uri.duration("node-timeout").map(quorum::withNodeTimeout).orElse(quorum);
    }

    private static StoreFactory single(RedisConfig config, Optional<SSLSocketFactory> tls) {
        return context -> new RedisStore(config, context, topology(config, context, tls.orElse(null)));
    }

    private static Topology topology(RedisConfig config, StoreContext context, @Nullable SSLSocketFactory tls) {
        JedisClientConfig client = clientConfig(context, config.login())
                .database(config.database())
                .build();
        Function<HostAndPort, Node> servers = address -> new PooledNode(address, client, tls, config.connections());
        return switch (config.shape()) {
            case STANDALONE, QUORUM ->
                new SingleServer(servers.apply(config.hosts().get(0)));
            case CLUSTER -> new ClusterServers(config.hosts(), servers);
            case SENTINEL -> {
                JedisClientConfig asking =
                        clientConfig(context, config.sentinelLogin()).build();
                List<Node> sentinels = config.hosts().stream()
                        .<Node>map(address -> new PooledNode(address, asking, tls, 1))
                        .toList();
                yield new SentinelServers(sentinels, config.master(), servers);
            }
        };
    }

    private static DefaultJedisClientConfig.Builder clientConfig(StoreContext context, RedisConfig.Login login) {
        // Not by resp2(), which Jedis 7 does not have: Spring Boot gives that to its applications.
        return DefaultJedisClientConfig.builder()
                .protocol(RedisProtocol.RESP2)
                .clientName(clientName(context.clientName()))
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED)
                .user(login.user().orElse(null))
                .password(login.password().orElse(null));
    }

    /** What CLIENT LIST shows; the server takes printable ASCII without spaces only. */
    private static String clientName(String name) {
        return "holdfast-" + name.replaceAll("[^!-~]", "_");
    }
}
