package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import io.holdfast.zookeeper.StoreBench.Ears;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the network does to requests, one kind of request at a time, and what may be left of them: one node or none. */
class FaultsTest {

    /** Long enough to reconnect within it: ZooKeeper's client pauses up to a second before it does. */
    private static final Duration TTL = Duration.ofSeconds(8);

    private static ZooKeeperServer server;
    private static ZooKeeper admin;

    private final CountedRequests counted = new CountedRequests();
    private TcpProxy proxy;
    private StoreBench bench;

    @BeforeAll
    static void startServer() throws Exception {
        server = TestServers.single();
        admin = TestServers.client(server.connectString());
    }

    @AfterAll
    static void stopServer() throws Exception {
        admin.close();
        server.close();
    }

    @BeforeEach
    void open() {
        proxy = TcpProxy.to(server.address(), counted);
        bench = StoreBench.at(TestServers.uri("127.0.0.1:" + proxy.port()), TTL);
        // Connected, and the directory of all locks is known: what is counted and lost from here on is what the test
        // says.
        bench.store.release(bench.acquire("warm-up"), Duration.ZERO, bench.soon());
        counted.sinceLastAsked();
    }

    @AfterEach
    void close() {
        bench.close();
        proxy.close();
    }

    @Test
    void P7_aCreationWhoseAnswerIsLostIsFoundAgainAndNeverDoubled() throws Exception {
        proxy.dropReplies();
        Future<Grant> acquired = bench.elsewhere(() -> bench.acquire("lost-create"));
        await().until(() -> children("lost-create").size() == 1);
        String made = children("lost-create").get(0);
        proxy.heal();

        Grant grant = acquired.get(20, SECONDS);

        assertThat(children("lost-create")).containsExactly(made);
        Stat stat = new Stat();
        admin.getData("/locks/lost-create/" + made, false, stat);
        assertThat(grant.token()).isEqualTo(stat.getCzxid());
        assertThat(bench.store.release(grant, Duration.ZERO, bench.soon())).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(children("lost-create")).isEmpty();
    }

    @Test
    void P5_aLeaseThatTookLongToGetIsKeptForItsWholeTtl() throws Exception {
        long asked = System.nanoTime();
        proxy.dropReplies();
        Future<Grant> acquired = bench.elsewhere(() -> bench.acquire("slow-create"));
        await().until(() -> System.nanoTime() - asked > TTL.toNanos() / 2);
        proxy.heal();

        Grant grant = acquired.get(20, SECONDS);

        await().until(() -> System.nanoTime() - grant.baseNanos() > TTL.toNanos() * 3 / 4);
        assertThat(System.nanoTime() - asked).isGreaterThan(TTL.toNanos());
        assertThat(bench.losses).isEmpty();
        assertThat(bench.renew(grant)).isInstanceOf(RenewalAnswer.Extended.class);
    }

    @Test
    void P7_aCreationThatNeverArrivedIsSentAgain() throws Exception {
        proxy.swallow(Direction.TO_SERVER);
        Future<Grant> acquired = bench.elsewhere(() -> bench.acquire("swallowed"));
        await().until(() -> counted.total() > 0 && counted.sinceLastAsked().containsKey("create2"));
        proxy.heal();

        assertThat(acquired.get(20, SECONDS).token()).isPositive();
        assertThat(children("swallowed")).hasSize(1);
    }

    @Test
    void P7_whatAnUnansweredRequestLeftIsSweptAlthoughTheSessionLives() throws Exception {
        Request request = bench.request("orphan", Demand.exclusive());
        proxy.dropReplies();
        assertThatThrownBy(() -> bench.store.enqueue(request, new Ears(), bench.within(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        await().until(() -> children("orphan").size() == 1);

        proxy.heal();

        await().atMost(Duration.ofSeconds(30)).until(() -> children("orphan").isEmpty());
        assertThat(bench.attempt("orphan")).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void P7_anUnansweredRequestCanBeWithdrawn() throws Exception {
        Request request = bench.request("undone", Demand.exclusive());
        proxy.dropReplies();
        assertThatThrownBy(() -> bench.store.attempt(request, bench.within(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        proxy.heal();

        assertThat(bench.store.withdraw(request, bench.soon())).isEqualTo(Withdrawal.REMOVED);
        assertThat(children("undone")).isEmpty();
    }

    @Test
    void aDeletionWhoseAnswerIsLostCountsAsOurs() throws Exception {
        Grant grant = bench.acquire("lost-delete");
        proxy.dropReplies();
        Future<ReleaseAnswer> released = bench.elsewhere(() -> bench.store.release(grant, Duration.ZERO, bench.soon()));
        await().until(() -> children("lost-delete").isEmpty());
        proxy.heal();

        assertThat(released.get(20, SECONDS)).isEqualTo(ReleaseAnswer.RELEASED);
    }

    @Test
    void aWatchWhoseAnswerIsLostIsSetAgain() throws Exception {
        try (StoreBench holding = StoreBench.at(TestServers.uri(server.connectString()), TTL)) {
            Grant holder = holding.acquire("lost-watch");
            proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(300));
            Ears ears = new Ears();
            bench.queue("lost-watch", ears);
            // The ticket is there, the answer to getData on its way back: it will not arrive.
            await().until(() -> counted.sinceLastAsked().containsKey("getData"));
            proxy.resetConnections();
            holding.store.release(holder, Duration.ZERO, holding.soon());
            proxy.heal();

            assertThat(ears.grants.poll(20, SECONDS)).isNotNull();
        }
    }

    @Test
    void aWaiterHearsOfWhatHappenedWhileItWasDisconnected() throws Exception {
        try (StoreBench holding = StoreBench.at(TestServers.uri(server.connectString()), TTL)) {
            Grant holder = holding.acquire("away");
            Ears ears = new Ears();
            Ticket ticket = bench.queue("away", ears);
            bench.renew(ticket);
            proxy.refuseConnections();
            proxy.resetConnections();
            holding.store.release(holder, Duration.ZERO, holding.soon());
            assertThat(ears.grants).isEmpty();
            proxy.heal();

            assertThat(ears.grants.poll(20, SECONDS)).isNotNull();
            assertThat(ears.losses).isEmpty();
        }
    }

    @Test
    void P5_aLostConnectionIsNotALostLease() throws Exception {
        Grant grant = bench.acquire("suspended");
        proxy.resetConnections();

        assertThat(bench.renew(grant)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(bench.losses).isEmpty();
    }

    @Test
    void P5_aSessionEndedByTheServersIsToldToHoldersAndWaitersAndReplacedByItself() throws Exception {
        Grant holder = bench.acquire("expired");
        Ears ears = new Ears();
        Ticket ticket = bench.queue("expired", ears);

        endSessionOf("expired");

        StoreBench.Lost lost = bench.losses.poll(20, SECONDS);
        assertThat(lost).isNotNull();
        assertThat(lost.owner()).isEqualTo(holder.request().owner());
        assertThat(lost.reason()).isEqualTo(LossReason.GONE);
        assertThat(ears.losses.poll(20, SECONDS)).contains("expired");
        assertThat(ears.grants).isEmpty();
        assertThat(bench.renew(holder)).isInstanceOf(RenewalAnswer.Gone.class);
        assertThat(bench.renew(ticket)).isInstanceOf(RenewalAnswer.Gone.class);
        assertThat(bench.store.release(holder, Duration.ZERO, bench.soon())).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(bench.acquire("expired").token()).isGreaterThan(holder.token());
    }

    @Test
    void serversThatLostTheirDataAreUsedAgainInANewSession() throws Exception {
        Duration shortTtl = Duration.ofSeconds(1);
        try (ZooKeeperServer forgetful = TestServers.single();
                StoreBench other = StoreBench.at(TestServers.uri(forgetful.connectString()), shortTtl)) {
            Grant before = other.acquire("forgotten");
            forgetful.restartEmpty();

            await().atMost(Duration.ofSeconds(30))
                    .ignoreExceptions()
                    .until(() -> other.attempt("forgotten") instanceof Answer.Granted);
            assertThat(other.renew(before)).isInstanceOf(RenewalAnswer.Gone.class);
        }
    }

    @Test
    void P5_whoIsCutOffForATtlIsToldBeforeTheConnectionIsBack() throws Exception {
        Duration shortTtl = Duration.ofSeconds(1);
        Request held = bench.request("cut-off", Demand.exclusive(), shortTtl);
        Grant holder = ((Answer.Granted) bench.store.enqueue(held, new Ears(), bench.soon())).grant();
        Ears ears = new Ears();
        Ticket waiter = bench.queue(bench.request("cut-off", Demand.exclusive(), shortTtl), ears);
        assertThat(bench.renew(holder)).isInstanceOf(RenewalAnswer.Extended.class);

        proxy.cut();

        // Both are renewed all the time, so nothing but the cut can cost them their places.
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            bench.store.renew(
                    List.of(new RenewalRequest(holder, shortTtl), new RenewalRequest(waiter, shortTtl)),
                    bench.within(Duration.ofMillis(100)));
            return !bench.losses.isEmpty() && !ears.losses.isEmpty();
        });
        assertThat(bench.losses.element().owner()).isEqualTo(held.owner());
        await().atMost(Duration.ofSeconds(20)).until(() -> children("cut-off").isEmpty());
        proxy.heal();
        Request next = bench.request("cut-off", Demand.exclusive(), shortTtl);
        assertThat(bench.store.enqueue(next, new Ears(), bench.soon()))
                .isInstanceOfSatisfying(
                        Answer.Granted.class,
                        granted -> assertThat(granted.grant().token()).isGreaterThan(holder.token()));
        assertThat(ears.grants).isEmpty();
    }

    @Test
    void aFreeLockTakesOneCreationOneListingAndOneDeletion() {
        bench.store.release(bench.acquire("counted"), Duration.ZERO, bench.soon());
        assertThat(counted.sinceLastAsked())
                .as("with its directory")
                .isEqualTo(Map.of("createContainer", 1, "create2", 1, "getChildren", 1, "delete", 1));

        bench.store.release(bench.acquire("counted"), Duration.ZERO, bench.soon());
        assertThat(counted.sinceLastAsked()).isEqualTo(Map.of("create2", 1, "getChildren", 1, "delete", 1));
    }

    @Test
    void aRefusedTryIsRepeatedAsARead() {
        bench.acquire("tried");
        bench.attempt("tried");
        counted.sinceLastAsked();

        assertThat(bench.attempt("tried")).isInstanceOf(Answer.Refused.class);

        assertThat(counted.sinceLastAsked()).isEqualTo(Map.of("getChildren", 1));
    }

    @Test
    void P6_aHandoverFromTheHolderTakesNoRequestAndFromAWaiterOne() throws Exception {
        try (StoreBench holding = StoreBench.at(TestServers.uri(server.connectString()), TTL)) {
            Grant holder = holding.acquire("handover");
            Ears first = new Ears();
            bench.queue("handover", first);
            Ears second = new Ears();
            Ticket ticket = bench.queue("handover", second);
            // Its answer comes after those to the watches sent before.
            bench.renew(ticket);
            counted.sinceLastAsked();

            holding.store.release(holder, Duration.ZERO, holding.soon());
            Grant next = first.grants.poll(20, SECONDS);
            assertThat(next).isNotNull();
            assertThat(counted.sinceLastAsked())
                    .as("its predecessor held when it queued")
                    .isEmpty();

            bench.store.release(next, Duration.ZERO, bench.soon());
            assertThat(second.grants.poll(20, SECONDS)).isNotNull();
            assertThat(counted.sinceLastAsked()).isEqualTo(Map.of("delete", 1, "getData", 1));
        }
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
