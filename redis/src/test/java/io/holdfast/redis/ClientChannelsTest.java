package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.channel.ClientChannels;
import io.holdfast.redis.server.PooledNode;
import io.holdfast.redis.server.SingleServer;
import io.holdfast.redis.server.Topology;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

@DisplayName("A client's channel")
class ClientChannelsTest extends RedisTest {

    private static final String SERVER = "";

    /** Stands for a thread that cannot be started: it fails whoever begins to listen just so. */
    private static final class TroubledTime implements TimeSource {
        private final AtomicInteger troubles = new AtomicInteger(1);

        @Override
        public long nanoTime() {
            if (troubles.getAndDecrement() > 0) {
                throw new Error("unable to create native thread");
            }
            return System.nanoTime();
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            TimeSource.system().parkUntil(blocker, untilNanos);
        }
    }

    @Test
    void thatCannotBeListenedToFailsNobodyAndIsTriedAgain() {
        StoreContext context = new StoreContext(
                new OwnerId.Source().client(), "test", new TroubledTime(), (nanos, task) -> () -> {}, Runnable::run);
        Topology topology = new SingleServer(new PooledNode(
                new HostAndPort("127.0.0.1", server.port()),
                DefaultJedisClientConfig.builder().build(),
                null,
                1));
        ClientChannels channels = closing(
                new ClientChannels("holdfast:", context, topology, server -> {}, message -> {}), ClientChannels::close);

        channels.listen(SERVER);
        assertThat(channels.subscriptions(SERVER)).isZero();
        channels.listen(SERVER, Deadline.after(TimeSource.system(), Duration.ofSeconds(20)));

        assertThat(channels.subscriptions(SERVER)).isEqualTo(1);
    }
}
