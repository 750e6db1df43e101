package io.holdfast.bench.compare.arena;

import io.holdfast.bench.Contender;
import io.holdfast.bench.server.RespConnection;
import java.io.IOException;
import java.net.URI;
import java.util.Map;

/**
 * What no lock in Redis can avoid, on bare sockets. Settings: {@code uri}, {@code way}: {@code set} (SET NX PX, and a script
 * that compares and deletes) or {@code blpop} (a list with one element: a queue with the quickest possible handover, without
 * lease, token or recovery). Thread-safe.
 */
public final class RedisFloor implements Contender {

    private static final String RELEASE =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end";

    private final URI uri;
    private final boolean blocking;

    private RedisFloor(URI uri, boolean blocking) {
        this.uri = uri;
        this.blocking = blocking;
    }

    /** Needs no connection of its own. */
    public static final class Factory implements Contender.Factory {

        @Override
        public Contender open(Map<String, String> settings) {
            return new RedisFloor(
                    URI.create(settings.get("uri")), settings.get("way").equals("blpop"));
        }
    }

    @Override
    public Mutex mutex(String name) {
        try {
            RespConnection redis = new RespConnection(uri.getHost(), uri.getPort());
            return blocking ? new Blpop(redis, name) : new SetAndDelete(redis, name);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {}

    private record Blpop(RespConnection redis, String name) implements Mutex {

        Blpop {
            // Whoever comes first puts the one element in.
            try {
                if ("1".equals(redis.call("SETNX", name + ":made", "1"))) {
                    redis.call("LPUSH", name, "1");
                }
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        public Held acquire() throws IOException {
            redis.call("BLPOP", name, "0");
            return () -> redis.call("LPUSH", name, "1");
        }

        @Override
        public void close() throws IOException {
            redis.close();
        }
    }

    private static final class SetAndDelete implements Mutex {

        private final RespConnection redis;
        private final String name;
        private final String script;
        private long number;

        SetAndDelete(RespConnection redis, String name) throws IOException {
            this.redis = redis;
            this.name = name;
            this.script = String.valueOf(redis.call("SCRIPT", "LOAD", RELEASE));
        }

        @Override
        public Held acquire() throws IOException {
            String owner = name + number++;
            while (redis.call("SET", name, owner, "NX", "PX", "30000") == null) {
                Thread.onSpinWait();
            }
            return () -> redis.call("EVALSHA", script, "1", name, owner);
        }

        @Override
        public void close() throws IOException {
            redis.close();
        }
    }
}
