package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.RequestCounter;
import io.holdfast.proxy.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;

/** Of the module {@code proxy}; it is here because it needs a server. */
class TcpProxySoakTest {

    @Test
    void neverMixesUpStreamsUnderRandomFaultsAndIsQuietAfterwards() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong served = new AtomicLong();
        ExecutorService clients = Executors.newFixedThreadPool(8);
        try (RedisServer redis = RedisServer.start();
                TcpProxy proxy = TcpProxy.to(redis.address(), RequestCounter::resp)) {
            List<? extends Future<?>> running = IntStream.range(0, 8)
                    .mapToObj(i -> clients.submit(() -> echo(proxy, i, over, served)))
                    .toList();
            disturb(proxy, Duration.ofSeconds(3));
            long before = served.get();
            await().atMost(Duration.ofSeconds(60)).until(() -> served.get() > before + 100);
            over.set(true);
            for (Future<?> client : running) {
                client.get(30, TimeUnit.SECONDS);
            }
            await().until(() -> proxy.openConnections() == 0);
        } finally {
            clients.shutdownNow();
        }
    }

    private static void disturb(TcpProxy proxy, Duration time) {
        Random random = new Random(42);
        long endNanos = System.nanoTime() + time.toNanos();
        List<Runnable> faults = List.of(
                proxy::cut,
                () -> proxy.cut(Direction.TO_CLIENT),
                () -> proxy.cut(Direction.TO_SERVER),
                proxy::dropReplies,
                () -> proxy.swallow(Direction.TO_SERVER),
                () -> proxy.delay(Duration.ofMillis(5)),
                proxy::resetConnections,
                proxy::refuseConnections);
        while (System.nanoTime() - endNanos < 0) {
            faults.get(random.nextInt(faults.size())).run();
            LockSupport.parkNanos(random.nextInt(20_000_000));
            if (random.nextBoolean()) {
                proxy.heal();
                LockSupport.parkNanos(random.nextInt(20_000_000));
            }
        }
        proxy.heal();
    }

    /** Sends texts and expects each back; a connection may break, but must never answer with another text. */
    private static void echo(TcpProxy proxy, int client, AtomicBoolean over, AtomicLong served) {
        long number = 0;
        while (!over.get()) {
            Jedis jedis = null;
            try {
                jedis = new Jedis(
                        new HostAndPort("127.0.0.1", proxy.port()),
                        DefaultJedisClientConfig.builder().timeoutMillis(200).build());
                while (!over.get()) {
                    String text = client + ":" + number++ + ":" + "x".repeat((int) (number % 3_000));
                    assertThat(jedis.echo(text)).isEqualTo(text);
                    served.incrementAndGet();
                }
            } catch (JedisException fault) {
                // Connects anew.
            } finally {
                closeQuietly(jedis);
            }
        }
    }

    private static void closeQuietly(@Nullable Jedis jedis) {
        try {
            if (jedis != null) {
                jedis.close();
            }
        } catch (JedisException alreadyBroken) {
            // Nothing left to close.
        }
    }
}
