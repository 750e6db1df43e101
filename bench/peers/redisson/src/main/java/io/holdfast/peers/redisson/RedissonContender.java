package io.holdfast.peers.redisson;

import io.holdfast.bench.Contender;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson at its defaults. Settings: {@code uri}, {@code lock}: plain, fair, spin or fenced. Thread-safe. */
public final class RedissonContender implements Contender {

    private final RedissonClient redisson;
    private final String kind;

    private RedissonContender(RedissonClient redisson, String kind) {
        this.redisson = redisson;
        this.kind = kind;
    }

    /** Connects. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) {
            Config config = new Config();
            config.useSingleServer().setAddress(settings.get("uri"));
            return new RedissonContender(Redisson.create(config), settings.get("lock"));
        }
    }

    private RLock lock(String name) {
        return switch (kind) {
            case "fair" -> redisson.getFairLock(name);
            case "spin" -> redisson.getSpinLock(name);
            case "fenced" -> redisson.getFencedLock(name);
            default -> redisson.getLock(name);
        };
    }

    @Override
    public Mutex mutex(String name) {
        RLock lock = lock(name);
        Held held = lock::unlock;
        return () -> {
            lock.lock();
            return held;
        };
    }

    @Override
    public boolean isFree(String name) {
        RLock lock = lock(name);
        boolean got = lock.tryLock();
        if (got) {
            lock.unlock();
        }
        return got;
    }

    @Override
    public void close() {
        redisson.shutdown();
    }
}
