package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperEnsemble;
import io.holdfast.servers.ZooKeeperServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** A follower goes on answering reads while its leader, whom it no longer reaches, ends the sessions of its clients. */
@DisplayName("A follower cut off from its leader")
class FollowerCutOffTest {

    /** Shorter than the follower takes to notice: it gives its leader up after forty ticks, four seconds. */
    private static final Duration TTL = Duration.ofSeconds(2);

    private static ZooKeeperEnsemble ensemble;
    private static ZooKeeperServer leader;
    private static ZooKeeperServer follower;
    private static TcpProxy link;

    @BeforeAll
    static void start() throws IOException {
        ensemble = ZooKeeperEnsemble.builder()
                .each(node -> TestServers.options(node).args("syncLimit=40"))
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
            await().pollDelay(TTL).until(held::isValid);

            link.cut();
            try (Lease next = other.lock("split").acquire()) {
                assertThat(held.isValid()).isFalse();
                assertThat(next.token()).isGreaterThan(held.token());
            }
            assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
            link.heal();
        }
    }

    private static Holdfast client(ZooKeeperServer server) {
        return Holdfast.builder()
                .store(TestServers.uri(server.connectString()))
                .defaults(LockOptions.defaults().withTtl(TTL))
                .connect();
    }
}
