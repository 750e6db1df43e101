package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.proxy.Direction;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What is sent to the servers")
class RoundTripsTest extends ProxiedServerTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private StoreBench bench;
    private StoreBench other;

    @BeforeEach
    void open() {
        // A view outlives its last waiter by a tick: longer than a busy machine lets one wait for the next.
        bench = through("5s");
        other = StoreBench.at(TestServers.uri(server.connectString()), TTL);
        bench.release(bench.acquire("warm-up"));
        counted.sinceLastAsked();
    }

    private StoreBench through(String tick) {
        return StoreBench.at(proxied(tick), TTL);
    }

    @AfterEach
    void close() {
        bench.close();
        other.close();
    }

    @Test
    void aFreeLockTakesOneCreationOneListingAndOneDeletion() {
        bench.release(bench.acquire("counted"));
        assertThat(sent())
                .as("with its directory")
                .isEqualTo(Map.of("createContainer", 1, "create2", 1, "getChildren2", 1, "delete", 1));

        bench.release(bench.acquire("counted"));
        assertThat(sent()).isEqualTo(Map.of("create2", 1, "getChildren2", 1, "delete", 1));
    }

    @Test
    void aLockThatOneClientTakesAgainAndAgainIsNotListed() {
        for (int i = 0; i < 3; i++) {
            bench.release(bench.acquire("mine"));
        }
        counted.sinceLastAsked();

        for (int i = 0; i < 10; i++) {
            bench.release(bench.acquire("mine"));
        }

        assertThat(sent()).isEqualTo(Map.of("create2", 10, "delete", 10));
    }

    @Test
    void aCrowdThatGivesUpLeavesInOneRoundTrip() throws Exception {
        other.acquire("crowded");
        List<TestTicket> crowd =
                Stream.generate(() -> bench.queue("crowded")).limit(20).toList();
        crowd.forEach(waiter -> waiter.ticket.end());
        counted.sinceLastAsked();
        proxy.cut(Direction.TO_CLIENT);

        Future<Withdrawal> first = bench.elsewhere(() -> bench.withdraw(crowd.get(0)));

        await().until(() -> counted.count("delete") == crowd.size());
        proxy.heal();
        assertThat(first.get(20, SECONDS)).isEqualTo(Withdrawal.REMOVED);
        crowd.forEach(bench::withdraw);
        assertThat(counted.count("delete")).isEqualTo(crowd.size());
        assertThat(other.store.view("crowded", other.soon()).waiters()).isEmpty();
    }

    @Test
    void aLockThatTwoClientsTakeInTurnIsListedBackToBack() {
        bench.release(bench.acquire("ours"));
        other.release(other.acquire("ours"));
        counted.sinceLastAsked();

        for (int i = 0; i < 10; i++) {
            bench.release(bench.acquire("ours"));
            other.release(other.acquire("ours"));
        }

        assertThat(sent()).isEqualTo(Map.of("create2", 10, "getChildren2", 10, "delete", 10));
    }

    @Test
    void aRefusedTryIsRepeatedAsARead() {
        bench.acquire("tried");
        bench.refusal("tried");
        counted.sinceLastAsked();

        assertThat(bench.refusal("tried")).isPresent();

        assertThat(sent()).isEqualTo(Map.of("sync", 1, "getChildren2", 1));
    }

    @Test
    void aContendedLockTakesOneCreationAndOneDeletionPerTurn() throws Exception {
        int turns = 50;
        Deque<TestTicket> ours = new ArrayDeque<>();
        Deque<TestTicket> theirs = new ArrayDeque<>();
        theirs.add(other.acquire("contended"));
        ours.add(bench.queue("contended"));
        settle(ours.peek());
        for (int turn = 0; turn < turns; turn++) {
            theirs.add(other.queue("contended"));
            other.release(theirs.remove());
            assertThat(ours.peek().grants.poll(20, SECONDS)).isNotNull();
            ours.add(bench.queue("contended"));
            bench.release(ours.remove());
            assertThat(theirs.peek().grants.poll(20, SECONDS)).isNotNull();
        }

        assertThat(sent()).isEqualTo(Map.of("create2", turns, "delete", turns));
    }

    @Test
    void aClientThatComesAgainAndAgainKeepsItsViewMeanwhile() throws Exception {
        // One ticket at a time, as of threads that queue within the client.
        TestTicket theirs = other.acquire("returning");
        TestTicket ours = bench.queue("returning");
        settle(ours);
        for (int turn = 0; turn < 10; turn++) {
            TestTicket next = other.queue("returning");
            other.release(theirs);
            assertThat(ours.grants.poll(20, SECONDS)).isNotNull();
            bench.release(ours);
            theirs = next;
            assertThat(theirs.grants.poll(20, SECONDS)).isNotNull();
            ours = bench.queue("returning");
        }

        assertThat(sent()).isEqualTo(Map.of("create2", 10, "delete", 10));
    }

    @Test
    void aViewNobodyNeedsAnyMoreIsGivenUpAtTheServersToo() throws Exception {
        bench.close();
        bench = through("100ms");
        TestTicket theirs = other.acquire("over");
        TestTicket ours = bench.queue("over");
        settle(ours);
        other.release(theirs);
        assertThat(ours.grants.poll(20, SECONDS)).isNotNull();
        bench.release(ours);

        await().until(() -> counted.sinceLastAsked().containsKey("removeWatches"));
        bench.release(bench.acquire("over"));

        assertThat(sent()).isEqualTo(Map.of("create2", 1, "getChildren2", 1, "delete", 1));
    }

    @Test
    void P6_farFromTheFrontOneNodeIsWatchedAndNothingElseHeardOf() throws Exception {
        bench.release(bench.acquire("far"));
        List<String> crowd = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            crowd.add(admin.create(
                    "/locks/far/_c_foreign-lock-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL));
        }
        counted.sinceLastAsked();

        TestTicket waiter = bench.queue("far");
        TestTicket behind = bench.queue("far");
        bench.renew(behind);
        Map<String, Integer> joining = counted.sinceLastAsked();
        assertThat(joining).doesNotContainKey("addWatch").containsEntry("create2", 2);
        // One watches far ahead, the other its own node, which comes with its renewal.
        assertThat(joining).containsEntry("getData", 2);

        for (int i = 0; i < 36; i++) {
            admin.delete(crowd.get(i), -1);
        }
        bench.renew(behind);
        assertThat(counted.sinceLastAsked()).as("64 are still ahead").doesNotContainKey("getChildren2");

        admin.delete(crowd.get(36), -1);
        await().until(() -> counted.sinceLastAsked().containsKey("addWatch"));
        for (int i = 37; i < 100; i++) {
            assertThat(waiter.grants).isEmpty();
            admin.delete(crowd.get(i), -1);
        }
        assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
        assertThat(behind.grants).isEmpty();
        bench.release(waiter);
        assertThat(behind.grants.poll(20, SECONDS)).isNotNull();
    }

    /** Without the look at a node that is held for half a second, which happens on a busy machine. */
    private Map<String, Integer> sent() {
        Map<String, Integer> all = counted.sinceLastAsked();
        all.remove("getData");
        return all;
    }

    /** Its answer comes after those to whatever was sent before. */
    private void settle(TestTicket waiter) {
        bench.renew(waiter);
        counted.sinceLastAsked();
    }
}
