package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A lock that one client takes again and again, and then another")
class TurnsInARowTest extends ProxiedServerTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private StoreBench bench;

    @BeforeEach
    void open() {
        bench = StoreBench.at(proxied("10s"), TTL);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void P1_somebodyWhoCameMeanwhileIsWaitedFor() throws Exception {
        known("other");
        String theirs = foreign("other");

        TestTicket ours = bench.queue("other");

        admin.delete(theirs, -1);
        assertThat(ours.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void P1_aDirectoryRemovedAndMadeAgainIsListedThoughItsNumbersFit() throws Exception {
        int next = known("removed");
        admin.delete("/locks/removed", -1);
        admin.create("/locks/removed", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
        for (int number = 1; number < next; number++) {
            admin.delete(foreign("removed"), -1);
        }
        String theirs = foreign("removed");

        TestTicket ours = bench.queue("removed");

        admin.delete(theirs, -1);
        assertThat(ours.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void P1_aDirectoryRemovedAndMadeAgainWhileThereIsNoConnectionIsListed() throws Exception {
        int next = known("reconnected");
        proxy.refuseConnections();
        proxy.resetConnections();
        admin.delete("/locks/reconnected", -1);
        admin.create("/locks/reconnected", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
        for (int number = 1; number < next; number++) {
            admin.delete(foreign("reconnected"), -1);
        }
        String theirs = foreign("reconnected");
        proxy.heal();

        TestTicket ours = bench.queue("reconnected");

        admin.delete(theirs, -1);
        assertThat(ours.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void P1_aNodeOfOursThatIsStillThereIsWaitedFor() throws Exception {
        known("held");
        TestTicket first = bench.acquire("held");

        TestTicket second = bench.queue("held");

        assertThat(second.grants).isEmpty();
        bench.release(first);
        assertThat(second.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void readersThatEndOutOfOrderLeaveNothingWrongBehind() throws Exception {
        known("read");
        TestTicket first = bench.acquire("read", Demand.shared());
        TestTicket second = bench.acquire("read", Demand.shared());
        bench.release(second);

        TestTicket writer = bench.queue("read");

        assertThat(writer.grants).isEmpty();
        bench.release(first);
        assertThat(writer.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void P8_noWatchIsLeft() throws Exception {
        known("unwatched");

        assertThat(TestServers.watches(server)).isZero();
    }

    @Test
    void P1_oneAtATimeThoughDirectoriesAreRemovedAllTheTime() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        try (ZooKeeperServer tidy = TestServers.options(ZooKeeperServer.builder())
                        .env(
                                "JAVA_TOOL_OPTIONS",
                                "-Dznode.container.checkIntervalMs=1 -Dznode.container.maxPerMinute=60000000")
                        .start();
                StoreBench one = StoreBench.at(TestServers.uri(tidy.connectString()), TTL);
                StoreBench two = StoreBench.at(TestServers.uri(tidy.connectString()), TTL);
                StoreBench three = StoreBench.at(TestServers.uri(tidy.connectString()), TTL)) {
            List<Future<Integer>> working = new ArrayList<>();
            for (StoreBench client : List.of(one, two, three)) {
                working.add(client.elsewhere(() -> work(client, inside)));
            }
            for (Future<Integer> work : working) {
                assertThat(work.get(120, SECONDS)).as("turns").isPositive();
            }
        }
    }

    /** Takes the lock several times in a row, then pauses. Returns how often it had it. */
    private static int work(StoreBench client, AtomicInteger inside) {
        int turns = 0;
        for (int round = 0; round < 30; round++) {
            for (int i = 0; i < 8; i++) {
                TestTicket ticket = client.ticket("tidied");
                if (client.refusal(ticket, client.soon()).isEmpty()) {
                    assertThat(inside.incrementAndGet()).as("holders").isOne();
                    turns++;
                    inside.decrementAndGet();
                    client.release(ticket);
                }
            }
            LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(5_000_000));
        }
        return turns;
    }

    /** From now on a node there is made without a listing. Returns which number it will have. */
    private int known(String lock) {
        for (int i = 0; i < 4; i++) {
            bench.release(bench.acquire(lock));
        }
        counted.sinceLastAsked();
        bench.release(bench.acquire(lock));
        assertThat(counted.sinceLastAsked()).doesNotContainKey("getChildren2");
        return 5;
    }

    private static String foreign(String lock) throws Exception {
        return admin.create(
                "/locks/" + lock + "/_c_foreign-lock-",
                new byte[0],
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);
    }
}
