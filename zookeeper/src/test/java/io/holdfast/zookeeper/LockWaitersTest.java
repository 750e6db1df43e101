package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.proxy.Direction;
import io.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("The view of a contended queue")
class LockWaitersTest extends ProxiedServerTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private StoreBench bench;
    private StoreBench other;

    @BeforeEach
    void open() {
        // A view outlives its last waiter by a tick.
        bench = StoreBench.at(proxied("1s"), TTL);
        other = StoreBench.at(TestServers.uri(server.connectString()), TTL);
    }

    @AfterEach
    void close() {
        bench.close();
        other.close();
    }

    @Test
    void P9_nothingIsLeftAtTheServersOfManyLocksOnceWaitedFor() throws Exception {
        int locks = 300;
        List<TestTicket> theirs = new ArrayList<>();
        List<TestTicket> ours = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            theirs.add(other.acquire("many/" + i));
            ours.add(bench.queue("many/" + i));
        }
        await().atMost(Duration.ofSeconds(20)).until(() -> TestServers.watches(server) >= locks);
        for (int i = 0; i < locks; i++) {
            other.release(theirs.get(i));
            assertThat(ours.get(i).grants.poll(20, SECONDS)).isNotNull();
            bench.release(ours.get(i));
        }

        await().atMost(Duration.ofSeconds(20)).until(() -> TestServers.watches(server) == 0);
    }

    @Test
    void aWaiterThatGivesUpLeavesNoWatchEither() throws Exception {
        bench.release(bench.acquire("given-up"));
        // Somebody who watches nothing.
        String holder = foreign("given-up");
        TestTicket waiter = bench.queue("given-up");
        await().until(() -> TestServers.watches(server) == 1);

        bench.withdraw(waiter);

        await().atMost(Duration.ofSeconds(20)).until(() -> TestServers.watches(server) == 0);
        admin.delete(holder, -1);
    }

    @Test
    void P1_aDirectoryRemovedAndMadeAgainByOthersIsSeenAnewThoughItsNumbersFit() throws Exception {
        standingView("removed");
        int next = admin.getChildren("/locks/removed", false).size() + 2;
        admin.delete("/locks/removed", -1);
        admin.create("/locks/removed", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
        List<String> crowd = new ArrayList<>();
        for (int i = 0; i < next; i++) {
            crowd.add(foreign("removed"));
        }

        TestTicket waiter = bench.queue("removed");

        bench.renew(waiter);
        for (String node : crowd) {
            assertThat(waiter.grants).isEmpty();
            admin.delete(node, -1);
        }
        assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void aDirectoryRemovedWhileACreationIsUnderWayIsMadeAgain() throws Exception {
        standingView("vanishing");
        counted.sinceLastAsked();
        proxy.cut(Direction.TO_SERVER);
        var acquired = bench.elsewhere(() -> bench.acquire("vanishing"));
        await().until(() -> counted.count("create2") == 1);
        admin.delete("/locks/vanishing", -1);
        proxy.heal();

        assertThat(acquired.get(20, SECONDS).token()).isPositive();
        assertThat(admin.getChildren("/locks/vanishing", false)).hasSize(1);
    }

    @Test
    void P1_whoJoinsAfterAReconnectCountsThoseWhoJoinedMeanwhile() throws Exception {
        TestTicket first = bench.acquire("meanwhile");
        TestTicket second = bench.queue("meanwhile");
        bench.renew(second);
        proxy.refuseConnections();
        proxy.resetConnections();
        TestTicket theirs = other.queue("meanwhile");
        proxy.heal();
        TestTicket last = bench.queue("meanwhile");

        bench.release(first);
        assertThat(second.grants.poll(20, SECONDS)).isNotNull();
        bench.release(second);
        assertThat(theirs.grants.poll(20, SECONDS)).isNotNull();
        bench.renew(last);
        assertThat(last.grants).isEmpty();
        other.release(theirs);
        assertThat(last.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void aWaiterFarFromTheFrontHearsOfItsTurnAfterAReconnect() throws Exception {
        bench.release(bench.acquire("far-away"));
        List<String> crowd = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            crowd.add(foreign("far-away"));
        }
        TestTicket waiter = bench.queue("far-away");
        proxy.refuseConnections();
        proxy.resetConnections();
        for (String node : crowd) {
            admin.delete(node, -1);
        }
        assertThat(waiter.grants).isEmpty();
        proxy.heal();

        assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void aSessionWhoseFirstTicketLeavesMayBeFarFromTheFrontAgain() throws Exception {
        TestTicket first = bench.acquire("again");
        TestTicket second = bench.queue("again");
        bench.renew(second);
        List<String> crowd = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            crowd.add(foreign("again"));
        }
        TestTicket last = bench.queue("again");
        counted.sinceLastAsked();

        bench.withdraw(second);

        await().until(() -> counted.count("removeWatches") == 1);
        bench.release(first);
        for (String node : crowd) {
            assertThat(last.grants).isEmpty();
            admin.delete(node, -1);
        }
        assertThat(last.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void P6_inACrowdAClientThatNoLongerWaitsHearsNothingMore() throws Exception {
        bench.release(bench.acquire("crowded"));
        String first = foreign("crowded");
        TestTicket waiter = bench.queue("crowded");
        for (int i = 0; i < 70; i++) {
            foreign("crowded");
        }
        bench.renew(waiter);
        admin.delete(first, -1);
        assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();

        // Its answer comes after those to whatever was sent before: at once, not when the view has been idle for a
        // tick.
        bench.store.ping(bench.soon());

        assertThat(counted.count("removeWatches")).isOne();
    }

    @Test
    void aQueueThatMayNotBeListedForAWhileIsListedByTheNextHeartbeat() throws Exception {
        bench.release(bench.acquire("sealed"));
        String holder = foreign("sealed");
        TestTicket waiter = bench.queue("sealed");
        bench.renew(waiter);
        admin.setACL("/locks/sealed", Arrays.asList(new ACL(Perms.ALL & ~Perms.READ, Ids.ANYONE_ID_UNSAFE)), -1);
        proxy.resetConnections();
        await().atMost(Duration.ofSeconds(20))
                .until(() -> waiter.failures.stream()
                        .anyMatch(why -> why.getMessage().contains("denies")));
        admin.setACL("/locks/sealed", Ids.OPEN_ACL_UNSAFE, -1);
        admin.delete(holder, -1);

        await().until(() -> {
            bench.renew(waiter);
            return !waiter.grants.isEmpty();
        });
    }

    @Test
    void serversThatRefuseRecursiveWatchesAreAskedAtEveryChange() throws Exception {
        try (ZooKeeperServer frugal = TestServers.options(ZooKeeperServer.builder())
                        .env(
                                "JAVA_TOOL_OPTIONS",
                                "-Dzookeeper.watchManagerName="
                                        + "org.apache.zookeeper.server.watch.WatchManagerOptimized")
                        .start();
                StoreBench ours = StoreBench.at(TestServers.uri(frugal.connectString()), TTL);
                StoreBench theirs = StoreBench.at(TestServers.uri(frugal.connectString()), TTL)) {
            TestTicket writer = theirs.acquire("old");
            TestTicket reader = ours.queue("old", Demand.shared());
            TestTicket otherReader = theirs.queue("old", Demand.shared());
            TestTicket last = ours.queue("old");

            theirs.release(writer);
            assertThat(reader.grants.poll(20, SECONDS)).isNotNull();
            assertThat(otherReader.grants.poll(20, SECONDS)).isNotNull();
            ours.release(reader);
            ours.renew(last);
            assertThat(last.grants).isEmpty();
            theirs.release(otherReader);
            assertThat(last.grants.poll(20, SECONDS)).isNotNull();
        }
    }

    /** Nobody waits there any more, but did a moment ago. */
    private void standingView(String lock) throws Exception {
        TestTicket theirs = other.acquire(lock);
        TestTicket ours = bench.queue(lock);
        bench.renew(ours);
        other.release(theirs);
        assertThat(ours.grants.poll(20, SECONDS)).isNotNull();
        bench.release(ours);
    }

    private static String foreign(String lock) throws Exception {
        return admin.create(
                "/locks/" + lock + "/_c_foreign-lock-",
                new byte[0],
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);
    }
}
