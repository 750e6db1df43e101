package io.holdfast.redis;

import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.RedisServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.Faults;
import io.holdfast.tck.LockStoreContract;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import redis.clients.jedis.RedisClient;

@DisplayName("Conformance: Redis, one server")
class RedisConformanceTest extends LockStoreContract {

    private static final Pattern SCRIPT_CALLS = Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)");

    private static RedisServer server;
    private static TcpProxy proxy;
    private static RedisClient redis;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        proxy = TcpProxy.to(server.address());
        redis = RedisClient.create("127.0.0.1", server.port());
    }

    @AfterAll
    static void stop() {
        redis.close();
        proxy.close();
        server.close();
    }

    @Override
    public StoreFactory store() {
        return new RedisStores().store(StoreUri.parse("redis://127.0.0.1:" + proxy.port()));
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofMillis(600);
    }

    @Override
    public Optional<Faults> faults() {
        return Optional.of(new ProxyFaults(proxy));
    }

    @Override
    public OptionalLong requestsReceived() {
        return OptionalLong.of(SCRIPT_CALLS
                .matcher(redis.info("commandstats"))
                .results()
                .map(MatchResult::group)
                .map(text -> text.substring(text.indexOf('=') + 1))
                .mapToLong(Long::parseLong)
                .sum());
    }

    @Override
    public Optional<List<String>> leftovers(String name) {
        LockKeys keys = LockKeys.of(RedisConfig.DEFAULT_PREFIX, name);
        return Optional.of(keys.all().stream()
                .filter(key -> !key.equals(keys.counter()))
                .filter(redis::exists)
                .toList());
    }
}
