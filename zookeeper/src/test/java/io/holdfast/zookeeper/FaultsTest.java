package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.proxy.Direction;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket.Ending;
import io.holdfast.spi.Withdrawal;
import io.holdfast.zookeeper.StoreBench.Renewed;
import io.holdfast.zookeeper.tree.Layout;
import io.holdfast.zookeeper.tree.NodeNames;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the network does to requests, one kind of request at a time, and what may be left of them: one node or none. */
class FaultsTest extends ProxiedServerTest {

    /** Long enough to reconnect within it: ZooKeeper's client pauses up to a second before it does. */
    private static final Duration TTL = Duration.ofSeconds(8);

    private StoreBench bench;

    @BeforeEach
    void open() {
        bench = StoreBench.at(TestServers.uri("127.0.0.1:" + proxy.port()), TTL);
        // Connected, and the directory of all locks is known: what is counted and lost from here on is what the test
        // says.
        bench.release(bench.acquire("warm-up"));
        counted.sinceLastAsked();
    }

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void P7_aCreationWhoseAnswerIsLostIsFoundAgainAndNeverDoubled() throws Exception {
        proxy.dropReplies();
        Future<TestTicket> acquired = bench.elsewhere(() -> bench.acquire("lost-create"));
        await().until(() -> children("lost-create").size() == 1);
        String made = children("lost-create").get(0);
        proxy.heal();

        TestTicket grant = acquired.get(20, SECONDS);

        assertThat(children("lost-create")).containsExactly(made);
        Stat stat = new Stat();
        admin.getData("/locks/lost-create/" + made, false, stat);
        assertThat(grant.token()).isEqualTo(stat.getCzxid());
        assertThat(counted.count("setData"))
                .as("a write before the search: a server that lags behind may not list the node yet")
                .isPositive();
        assertThat(bench.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(children("lost-create")).isEmpty();
    }

    @Test
    void P3_aLostCreationIsNotTakenForANodeOfAnotherSessionThatBearsOurUuid() throws Exception {
        bench.release(bench.acquire("ghost"));
        TestTicket waiter = bench.ticket("ghost");
        String ghost = admin.create(
                "/locks/ghost/"
                        + NodeNames.node(NodeNames.uuid(waiter.ticket.owner()), Demand.exclusive(), Layout.MUTEX),
                new byte[0],
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);
        proxy.dropReplies();
        Future<TestTicket> queued = bench.elsewhere(() -> bench.queue(waiter));
        await().until(() -> children("ghost").size() == 2);
        proxy.heal();
        queued.get(20, SECONDS);

        admin.delete(ghost, -1);

        assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
        assertThat(children("ghost")).hasSize(1);
    }

    @Test
    void aSessionThatEndsWhileATicketJoinsCostsItNothing() throws Exception {
        proxy.dropReplies();
        Future<TestTicket> acquired = bench.elsewhere(() -> bench.acquire("joining"));
        await().until(() -> children("joining").size() == 1);
        String made = children("joining").get(0);
        endSessionOf("joining");
        proxy.heal();

        TestTicket held = acquired.get(20, SECONDS);

        assertThat(children("joining")).hasSize(1).doesNotContain(made);
        assertThat(held.losses).isEmpty();
        assertThat(bench.renew(held)).isEqualTo(Renewed.KEPT);
    }

    @Test
    void P5_aLeaseThatTookLongToGetIsKeptForItsWholeTtl() throws Exception {
        long asked = System.nanoTime();
        proxy.dropReplies();
        Future<TestTicket> acquired = bench.elsewhere(() -> bench.acquire("slow-create"));
        await().until(() -> System.nanoTime() - asked > TTL.toNanos() / 2);
        proxy.heal();

        TestTicket grant = acquired.get(20, SECONDS);

        await().until(() -> System.nanoTime() - asked > TTL.toNanos());
        assertThat(grant.losses).isEmpty();
        assertThat(bench.renew(grant)).isEqualTo(Renewed.KEPT);
    }

    @Test
    void P7_aCreationThatNeverArrivedIsSentAgain() throws Exception {
        proxy.swallow(Direction.TO_SERVER);
        Future<TestTicket> acquired = bench.elsewhere(() -> bench.acquire("swallowed"));
        await().until(() -> counted.total() > 0 && counted.sinceLastAsked().containsKey("create2"));
        proxy.heal();

        assertThat(acquired.get(20, SECONDS).token()).isPositive();
        assertThat(children("swallowed")).hasSize(1);
    }

    @Test
    void P7_whatAnUnansweredRequestLeftIsSweptAlthoughTheSessionLives() throws Exception {
        TestTicket ticket = bench.ticket("orphan");
        proxy.dropReplies();
        assertThatThrownBy(() -> bench.store.request(ticket.ticket, Mode.QUEUE, bench.within(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        await().until(() -> children("orphan").size() == 1);

        proxy.heal();

        await().atMost(Duration.ofSeconds(30)).until(() -> children("orphan").isEmpty());
        assertThat(bench.refusal("orphan")).isEmpty();
    }

    @Test
    void P7_aSessionWhoseLeftoversCannotBeRemovedIsGivenUpAndTheyGoWithIt() throws Exception {
        bench.release(bench.acquire("stuck"));
        admin.setACL("/locks/stuck", Arrays.asList(new ACL(Perms.ALL & ~Perms.DELETE, Ids.ANYONE_ID_UNSAFE)), -1);
        TestTicket held = bench.acquire(bench.ticket("stuck", Demand.exclusive(), Duration.ofSeconds(3)));
        assertThatThrownBy(() -> bench.release(held)).hasMessageContaining("denies");

        await().atMost(Duration.ofSeconds(30)).until(() -> children("stuck").isEmpty());
    }

    @Test
    void P7_anUnansweredRequestCanBeWithdrawn() throws Exception {
        // The next sweep is far away.
        Duration longTtl = Duration.ofSeconds(60);
        bench.release(bench.acquire(bench.ticket("undone", Demand.exclusive(), longTtl)));
        TestTicket ticket = bench.ticket("undone", Demand.exclusive(), longTtl);
        proxy.dropReplies();
        assertThatThrownBy(() -> bench.refusal(ticket, bench.within(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        proxy.heal();

        assertThat(bench.withdraw(ticket)).isEqualTo(Withdrawal.REMOVED);
        assertThat(children("undone")).isEmpty();
    }

    @Test
    void aDeletionWhoseAnswerIsLostCountsAsOurs() throws Exception {
        TestTicket grant = bench.acquire("lost-delete");
        proxy.dropReplies();
        Future<ReleaseAnswer> released = bench.elsewhere(() -> bench.release(grant));
        await().until(() -> children("lost-delete").isEmpty());
        proxy.heal();

        assertThat(released.get(20, SECONDS)).isEqualTo(ReleaseAnswer.RELEASED);
    }

    @Test
    void aWatchWhoseAnswerIsLostIsSetAgain() throws Exception {
        try (StoreBench holding = StoreBench.at(TestServers.uri(server.connectString()), TTL)) {
            TestTicket holder = holding.acquire("lost-watch");
            proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(300));
            TestTicket waiter = bench.queue("lost-watch");
            // The ticket is there, the answers to watch and listing on their way back: it will not arrive.
            await().until(() -> counted.sinceLastAsked().containsKey("addWatch"));
            proxy.resetConnections();
            holding.release(holder);
            proxy.heal();

            assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
        }
    }

    @Test
    void aWaiterHearsOfWhatHappenedWhileItWasDisconnected() throws Exception {
        try (StoreBench holding = StoreBench.at(TestServers.uri(server.connectString()), TTL)) {
            TestTicket holder = holding.acquire("away");
            TestTicket waiter = bench.queue("away");
            bench.renew(waiter);
            proxy.refuseConnections();
            proxy.resetConnections();
            holding.release(holder);
            assertThat(waiter.grants).isEmpty();
            proxy.heal();

            assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
            assertThat(waiter.losses).isEmpty();
        }
    }

    @Test
    void P5_aLostConnectionIsNotALostLease() throws Exception {
        TestTicket grant = bench.acquire("suspended");
        proxy.resetConnections();

        assertThat(bench.renew(grant)).isEqualTo(Renewed.KEPT);
        assertThat(grant.losses).isEmpty();
    }

    @Test
    void P5_aSessionEndedByTheServersIsToldToHoldersAndWaitersAndReplacedByItself() throws Exception {
        TestTicket holder = bench.acquire("expired");
        TestTicket waiter = bench.queue("expired");

        endSessionOf("expired");

        assertThat(holder.losses.poll(20, SECONDS)).extracting(Ending::reason).isEqualTo(LossReason.GONE);
        assertThat(waiter.losses.poll(20, SECONDS))
                .extracting(Ending::detail)
                .asString()
                .contains("expired");
        assertThat(waiter.grants).isEmpty();
        assertThat(bench.renew(holder)).isEqualTo(Renewed.GONE);
        assertThat(bench.renew(waiter)).isEqualTo(Renewed.GONE);
        assertThat(bench.release(holder)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(bench.acquire("expired").token()).isGreaterThan(holder.token());
    }

    @Test
    void serversThatLostTheirDataAreUsedAgainInANewSession() throws Exception {
        Duration shortTtl = Duration.ofSeconds(1);
        try (ZooKeeperServer forgetful = TestServers.single();
                StoreBench other = StoreBench.at(TestServers.uri(forgetful.connectString()), shortTtl)) {
            TestTicket before = other.acquire("forgotten");
            forgetful.restartEmpty();

            await().atMost(Duration.ofSeconds(30))
                    .ignoreExceptions()
                    .until(() -> other.refusal("forgotten").isEmpty());
            assertThat(other.renew(before)).isEqualTo(Renewed.GONE);
        }
    }

    @Test
    void serversThatLostTheirDataAreUsedAgainThoughNothingWasHeld() throws Exception {
        try (ZooKeeperServer forgetful = TestServers.single();
                StoreBench other = StoreBench.at(TestServers.uri(forgetful.connectString()), Duration.ofSeconds(1))) {
            other.release(other.acquire("forgotten"));
            // It does not let clients in that have seen more than it has, and nobody tells them that they have no
            // session.
            forgetful.restartEmpty();

            await().atMost(Duration.ofSeconds(50))
                    .ignoreExceptions()
                    .until(() -> other.refusal("forgotten", other.within(Duration.ofSeconds(5)))
                            .isEmpty());
        }
    }

    @Test
    void P5_whoIsCutOffForATtlIsToldBeforeTheConnectionIsBack() throws Exception {
        Duration shortTtl = Duration.ofSeconds(3);
        TestTicket holder = bench.acquire(bench.ticket("cut-off", Demand.exclusive(), shortTtl));
        TestTicket waiter = bench.queue(bench.ticket("cut-off", Demand.exclusive(), shortTtl));
        assertThat(bench.renew(holder)).isEqualTo(Renewed.KEPT);

        proxy.cut();

        // Both are renewed all the time, so nothing but the cut can cost them their places.
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            bench.store.renew(List.of(holder.ticket, waiter.ticket), bench.within(Duration.ofMillis(100)));
            return !holder.losses.isEmpty() && !waiter.losses.isEmpty();
        });
        await().atMost(Duration.ofSeconds(20)).until(() -> children("cut-off").isEmpty());
        proxy.heal();
        TestTicket next = bench.acquire(bench.ticket("cut-off", Demand.exclusive(), shortTtl));
        assertThat(next.token()).isGreaterThan(holder.token());
        assertThat(waiter.grants).isEmpty();
    }

    /** As an operator would, or an earlier life of the same client: by closing it under its own id. */
    private void endSessionOf(String lock) throws Exception {
        Stat stat = new Stat();
        admin.getData("/locks/" + lock + "/" + children(lock).get(0), false, stat);
        TestServers.endSession(server, stat.getEphemeralOwner());
    }

    private static List<String> children(String lock) throws Exception {
        try {
            return admin.getChildren("/locks/" + lock, false);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        }
    }
}
