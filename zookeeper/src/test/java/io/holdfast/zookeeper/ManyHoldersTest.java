package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A lock that many hold at once")
class ManyHoldersTest extends ProxiedServerTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final int MANY = 100;
    // ZooKeeper's client asks whether null is in it.
    private static final List<ACL> UNREADABLE = Arrays.asList(new ACL(Perms.ALL & ~Perms.READ, Ids.ANYONE_ID_UNSAFE));
    private static final Demand READ = Demand.shared();

    private StoreBench bench;
    private StoreBench other;

    @BeforeEach
    void open() {
        // Longer than any of these tests: what is given up here is not given up because nobody used it for a tick.
        bench = StoreBench.at(proxied("10s"), TTL);
        other = StoreBench.at(TestServers.uri(server.connectString()), TTL);
    }

    @AfterEach
    void close() {
        bench.close();
        other.close();
    }

    @Test
    void P9_whoTakesItAgainAndAgainListsThemTwiceAndNotEachTime() {
        manyHold("again", READ);
        counted.sinceLastAsked();

        for (int i = 0; i < 20; i++) {
            bench.release(bench.acquire("again", READ));
        }

        assertThat(counted.count("getChildren2")).isEqualTo(2);
        assertThat(counted.count("addWatch")).isOne();
        assertThat(counted.count("create2")).isGreaterThanOrEqualTo(20);
    }

    @Test
    void P9_soDoesWhoTakesPermits() {
        Demand one = Demand.permits(1, 2 * MANY);
        manyHold("permits", one);
        counted.sinceLastAsked();

        for (int i = 0; i < 20; i++) {
            bench.release(bench.acquire("permits", one));
        }

        assertThat(counted.count("getChildren2")).isEqualTo(2);
    }

    @Test
    void P1_aReaderWaitsForAWriterWhoCameBetween() throws Exception {
        manyHold("writer", READ);
        followed("writer");
        String writer = foreign("writer", Ids.OPEN_ACL_UNSAFE);

        TestTicket reader = bench.queue("writer", READ);

        admin.delete(writer, -1);
        assertThat(reader.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void P1_aReaderWaitsForAWriterWhoCameWhileTheConnectionWasLost() throws Exception {
        manyHold("lost", READ);
        followed("lost");
        proxy.refuseConnections();
        proxy.resetConnections();
        String writer = foreign("lost", Ids.OPEN_ACL_UNSAFE);
        proxy.heal();

        TestTicket reader = bench.queue("lost", READ);

        admin.delete(writer, -1);
        assertThat(reader.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void P1_aReaderWaitsForAWriterThatItMayNotReadAndThatNoEventTellsOf() throws Exception {
        manyHold("hidden", READ);
        followed("hidden");
        String writer = foreign("hidden", UNREADABLE);

        TestTicket reader = bench.queue("hidden", READ);

        admin.delete(writer, -1);
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            bench.renew(reader);
            return !reader.grants.isEmpty();
        });
    }

    @Test
    void P1_thoseBehindAnUnreadableWriterWhoLeftAreCountedAnew() throws Exception {
        manyHold("anew", READ);
        followed("anew");
        admin.delete(foreign("anew", UNREADABLE), -1);
        bench.release(bench.acquire("anew", READ));
        counted.sinceLastAsked();

        for (int i = 0; i < 20; i++) {
            bench.release(bench.acquire("anew", READ));
        }

        assertThat(counted.count("getChildren2")).isLessThanOrEqualTo(2);
    }

    @Test
    void P6_whoComesRarelyDoesNotHearOfEveryChangeByOthers() {
        manyHold("rarely", READ);
        followed("rarely");

        for (int i = 0; i < MANY; i++) {
            other.release(other.acquire("rarely", READ));
        }

        // Its answer comes after those to whatever was sent before.
        bench.store.ping(bench.soon());
        assertThat(counted.count("removeWatches")).isOne();
    }

    @Test
    void P6_serversThatRefuseRecursiveWatchesAreListedAtEachJoinAndNotAtEachChange() throws Exception {
        try (ZooKeeperServer frugal = TestServers.options(ZooKeeperServer.builder())
                        .env(
                                "JAVA_TOOL_OPTIONS",
                                "-Dzookeeper.watchManagerName="
                                        + "org.apache.zookeeper.server.watch.WatchManagerOptimized")
                        .start();
                TcpProxy way = TcpProxy.to(frugal.address(), counted);
                StoreBench ours = StoreBench.at(TestServers.uri("127.0.0.1:" + way.port()), TTL);
                StoreBench theirs = StoreBench.at(TestServers.uri(frugal.connectString()), TTL)) {
            IntStream.range(0, MANY).forEach(i -> theirs.acquire("old", READ));

            for (int i = 0; i < 3; i++) {
                ours.release(ours.acquire("old", READ));
            }

            int listings = counted.count("getChildren2");
            for (int i = 0; i < 10; i++) {
                theirs.release(theirs.acquire("old", READ));
            }
            ours.store.ping(ours.soon());
            assertThat(counted.count("addWatch")).isOne();
            assertThat(counted.count("getChildren2")).isEqualTo(listings);
        }
    }

    private void manyHold(String lock, Demand demand) {
        for (int i = 0; i < MANY; i++) {
            other.acquire(lock, demand);
        }
    }

    /** From now on every change there is heard. */
    private void followed(String lock) {
        for (int i = 0; i < 2; i++) {
            bench.release(bench.acquire(lock, READ));
        }
        assertThat(counted.count("addWatch")).isOne();
        assertThat(counted.count("removeWatches")).isZero();
    }

    private static String foreign(String lock, List<ACL> acl) throws Exception {
        return admin.create("/locks/" + lock + "/_c_foreign-lock-", new byte[0], acl, CreateMode.EPHEMERAL_SEQUENTIAL);
    }
}
