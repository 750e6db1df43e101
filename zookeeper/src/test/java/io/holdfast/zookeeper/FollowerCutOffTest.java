package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperEnsemble;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.zookeeper.StoreBench.Renewed;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A follower goes on answering reads while its leader, whom it no longer reaches, ends the sessions of its clients. */
@DisplayName("A follower cut off from its leader")
class FollowerCutOffTest {

    /** A quarter of it is what pings within the ensemble may be late: more than a busy machine takes. */
    private static final Duration TICK = Duration.ofSeconds(1);

    /** Shorter than the follower takes to notice: it gives its leader up after twelve ticks. */
    private static final Duration TTL = Duration.ofSeconds(5);

    private static ZooKeeperEnsemble ensemble;
    private static ZooKeeperServer leader;
    private static ZooKeeperServer follower;
    private static TcpProxy link;

    @BeforeAll
    static void start() throws IOException {
        ensemble = ZooKeeperEnsemble.builder()
                .each(node -> TestServers.options(node).tick(TICK).args("syncLimit=12"))
                .start();
        leader = ensemble.leader();
        follower = ensemble.followers().get(0);
        link = putProxyBetween();
    }

    @AfterAll
    static void stop() {
        link.close();
        ensemble.close();
    }

    /** The follower finds the leader where its own configuration says. */
    private static TcpProxy putProxyBetween() throws IOException {
        Path configuration;
        try (Stream<Path> files = Files.walk(follower.directory())) {
            configuration =
                    files.filter(file -> file.endsWith("zoo.cfg")).findFirst().orElseThrow();
        }
        String lines = Files.readString(configuration);
        String member = "server." + (ensemble.nodes().indexOf(leader) + 1) + "=127.0.0.1:";
        int start = lines.indexOf(member) + member.length();
        int end = lines.indexOf(':', start);
        int port = Integer.parseInt(lines.substring(start, end));
        TcpProxy proxy = TcpProxy.to(new InetSocketAddress("127.0.0.1", port));
        Files.writeString(configuration, lines.substring(0, start) + proxy.port() + lines.substring(end));
        follower.restart();
        await().until(() -> proxy.openConnections() > 0);
        return proxy;
    }

    @Test
    void P1_P5_costsItsClientsTheirLocksBeforeAnybodyElseIsGrantedThem() throws Exception {
        try (Holdfast cutOff = client(follower);
                Holdfast other = client(leader)) {
            DistributedLock lock = cutOff.lock("split");
            Lease held = lock.acquire();
            CountDownLatch told = new CountDownLatch(1);
            held.onLost(loss -> told.countDown());
            // Renewed at least once, so that its base is that of a write between probes.
            AtomicReference<Duration> left = new AtomicReference<>(held.remaining());
            await().until(() -> held.remaining().compareTo(left.getAndSet(held.remaining())) > 0);

            link.cut();
            try (Lease next = other.lock("split").acquire()) {
                assertThat(held.isValid()).isFalse();
                assertThat(next.token()).isGreaterThan(held.token());
            }
            assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
            link.heal();
        }
    }

    /** What the leader says reaches the follower late, so a session that moves there finds the queue as it was. */
    @Test
    void P1_aMoveToAServerThatLagsBehindGrantsNothingEarlyAndLosesNothing() throws Exception {
        Duration ttl = Duration.ofSeconds(30);
        try (TcpProxy way = TcpProxy.to(leader.address());
                StoreBench moving = StoreBench.at(uri("127.0.0.1:" + way.port()), ttl);
                StoreBench resting = StoreBench.at(uri(leader.connectString()), ttl)) {
            TestTicket before = resting.acquire("lagging");
            TestTicket first = moving.queue("lagging");
            TestTicket second = moving.queue("lagging");
            moving.renew(second);
            link.delay(Direction.TO_CLIENT, Duration.ofMillis(500));
            resting.release(before);
            assertThat(first.grants.poll(20, TimeUnit.SECONDS)).isNotNull();
            TestTicket theirs = resting.queue("lagging");

            way.retarget(follower.address());
            way.resetConnections();
            TestTicket third = moving.queue("lagging");

            assertThat(moving.renew(first)).isEqualTo(Renewed.KEPT);
            assertThat(second.grants).isEmpty();
            moving.release(first);
            assertThat(second.grants.poll(20, TimeUnit.SECONDS)).isNotNull();
            moving.release(second);
            assertThat(theirs.grants.poll(20, TimeUnit.SECONDS)).isNotNull();
            moving.renew(third);
            assertThat(third.grants).isEmpty();
            resting.release(theirs);
            assertThat(third.grants.poll(20, TimeUnit.SECONDS)).isNotNull();
            assertThat(List.of(first.losses, second.losses, third.losses)).allMatch(Collection::isEmpty);
        } finally {
            link.heal();
        }
    }

    private static String uri(String connectString) {
        return "zookeeper://" + connectString + "/locks?tick=" + TICK.toMillis() + "ms";
    }

    private static Holdfast client(ZooKeeperServer server) {
        return Holdfast.builder()
                .store(uri(server.connectString()))
                .defaults(LockOptions.defaults().withTtl(TTL))
                .connect();
    }
}
