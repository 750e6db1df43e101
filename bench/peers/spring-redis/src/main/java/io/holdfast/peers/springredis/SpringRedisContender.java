package io.holdfast.peers.springredis;

import io.holdfast.bench.Contender;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** Spring Integration's {@code RedisLockRegistry}. Settings: {@code uri}, {@code mode}: spin or pubsub. Thread-safe. */
public final class SpringRedisContender implements Contender {

    private final LettuceConnectionFactory connections;
    private final RedisLockRegistry registry;

    private SpringRedisContender(LettuceConnectionFactory connections, RedisLockRegistry registry) {
        this.connections = connections;
        this.registry = registry;
    }

    /** Connects. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) {
            URI uri = URI.create(settings.get("uri"));
            LettuceConnectionFactory connections = new LettuceConnectionFactory(uri.getHost(), uri.getPort());
            connections.afterPropertiesSet();
            connections.start();
            RedisLockRegistry registry = new RedisLockRegistry(connections, "bench", TTL.toMillis());
            registry.setRedisLockType(
                    settings.get("mode").equals("spin")
                            ? RedisLockRegistry.RedisLockType.SPIN_LOCK
                            : RedisLockRegistry.RedisLockType.PUB_SUB_LOCK);
            return new SpringRedisContender(connections, registry);
        }
    }

    @Override
    public Mutex mutex(String name) {
        Lock lock = registry.obtain(name);
        Held held = lock::unlock;
        return () -> {
            lock.lock();
            return held;
        };
    }

    @Override
    public void close() {
        registry.destroy();
        connections.destroy();
    }
}
