package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClient;

/** One address leads to whoever is the primary; connections that are open stay with whom they were opened to. */
@DisplayName("A failover behind one address")
class DemotedServerTest extends RedisTest {

    private static final LockOptions TTL_36S = LockOptions.defaults().withTtl(Duration.ofSeconds(36));

    @Test
    void costsNoMoreThanTheConnectionsToTheOldPrimary() throws Exception {
        RedisServer old = closing(RedisServer.start(), RedisServer::close);
        RedisServer promoted = closing(RedisServer.start(), RedisServer::close);
        TcpProxy address = closing(TcpProxy.to(old.address()), TcpProxy::close);
        Holdfast client = closing(Holdfast.connect("redis://127.0.0.1:" + address.port()), Holdfast::close);
        Holdfast other = closing(Holdfast.connect("redis://127.0.0.1:" + address.port()), Holdfast::close);
        settle(client, other);

        address.retarget(promoted.address());
        try (RedisClient redis = RedisClient.create("127.0.0.1", old.port())) {
            command(redis, "REPLICAOF", "127.0.0.1", String.valueOf(promoted.port()));
        }

        Lease lease =
                client.lock("after", TTL_36S).tryAcquire(Duration.ofSeconds(10)).orElseThrow();
        CompletableFuture<Lease> waiting = other.lock("after", TTL_36S).acquireAsync();
        await().until(() -> !client.lock("after").inspect().waiters().isEmpty());
        // What hands it over is the message: its heartbeat would come after eleven seconds.
        try (RedisClient redis = RedisClient.create("127.0.0.1", promoted.port())) {
            await().until(() -> !((List<?>) command(redis, "PUBSUB", "CHANNELS", "holdfast:client:*")).isEmpty());
        }
        lease.release();
        assertThat(waiting.get(9, TimeUnit.SECONDS).isValid()).isTrue();
    }

    /** Both have connections in their pools, and listen. */
    private static void settle(Holdfast client, Holdfast other) throws Exception {
        Lease held = client.lock("before", TTL_36S).acquire();
        CompletableFuture<Lease> waiting = other.lock("before", TTL_36S).acquireAsync();
        await().until(() -> !client.lock("before").inspect().waiters().isEmpty());
        held.release();
        waiting.get(10, TimeUnit.SECONDS).release();
    }
}
