package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.zookeeper.StoreBench.Renewed;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** As on the way to credentials for all: servers tell a client nothing of what becomes of nodes it may not read. */
@DisplayName("With nodes one may not read")
class MixedCredentialsTest extends ProxiedServerTest {

    private static final Duration TTL = Duration.ofSeconds(30);

    private StoreBench open;
    private StoreBench secret;

    @BeforeEach
    void connect() {
        open = StoreBench.at(openUri(), TTL);
        secret = StoreBench.at(secretUri(), TTL);
    }

    @AfterEach
    void disconnect() {
        open.close();
        secret.close();
    }

    private String openUri() {
        return TestServers.uri("127.0.0.1:" + proxy.port());
    }

    private static String secretUri() {
        return TestServers.uri("app:s3cret@" + server.connectString());
    }

    /** The first to come makes the directory: open to all. */
    private void makeDirectory(String lock) {
        open.release(open.acquire(lock));
    }

    @Test
    void aWaiterKeepsItsTicketAndIsServedByAHeartbeat() throws Exception {
        makeDirectory("behind");
        TestTicket hidden = secret.acquire("behind");
        TestTicket waiter = open.queue("behind");
        List<String> nodes = admin.getChildren("/locks/behind", false);

        assertThat(open.renew(waiter)).isEqualTo(Renewed.KEPT);
        assertThat(waiter.losses).isEmpty();
        assertThat(admin.getChildren("/locks/behind", false)).containsExactlyInAnyOrderElementsOf(nodes);

        secret.release(hidden);
        await().until(() -> {
            open.renew(waiter);
            return !waiter.grants.isEmpty();
        });
        assertThat(admin.getChildren("/locks/behind", false)).hasSize(1);
    }

    @Test
    void aWaiterRecoversFromASwallowedEventWithinAThirdOfItsTtlAndSendsLittleUntilThen() throws Exception {
        Duration ttl = Duration.ofSeconds(6);
        makeDirectory("migrated");
        try (Holdfast first = connect(secretUri(), ttl);
                Holdfast second = connect(openUri(), ttl)) {
            Lease held = first.lock("migrated").acquire();
            counted.sinceLastAsked();
            CompletableFuture<Lease> waiting = second.lock("migrated").acquireAsync();
            // Long enough for some heartbeats.
            await().atMost(Duration.ofSeconds(30)).until(() -> counted.total() > 0 && counted.count("setData") >= 3);
            assertThat(counted.count("create2")).isEqualTo(1);
            assertThat(counted.count("delete")).isZero();

            counted.sinceLastAsked();
            held.release();
            try (Lease next = waiting.get(30, SECONDS)) {
                // One heartbeat may have been under way, the next one finds out, and the grant is followed by a
                // renewal.
                assertThat(counted.count("setData")).isLessThanOrEqualTo(3);
                assertThat(next.name()).isEqualTo("migrated");
            }
        }
    }

    @Test
    void P1_oneWhoJoinedUnheardOfIsAheadOfWhoJoinsLater() throws Exception {
        makeDirectory("hidden");
        TestTicket first = open.acquire("hidden");
        TestTicket second = open.queue("hidden");
        open.renew(second);
        TestTicket hidden = secret.queue("hidden");
        TestTicket last = open.queue("hidden");

        open.release(first);
        assertThat(second.grants.poll(20, SECONDS)).isNotNull();
        open.release(second);
        assertThat(hidden.grants.poll(20, SECONDS)).isNotNull();
        open.renew(last);
        assertThat(last.grants).isEmpty();

        secret.release(hidden);
        await().until(() -> {
            open.renew(last);
            return !last.grants.isEmpty();
        });
        assertThat(last.token()).isGreaterThan(hidden.token());
    }

    @Test
    void aPermitGivenBackUnheardOfIsFoundThoughTheFirstHolderIsStillThere() {
        makeDirectory("pool");
        Demand one = Demand.permits(1, 3);
        open.acquire("pool", one);
        TestTicket hidden = secret.acquire("pool", one);
        open.acquire("pool", one);
        TestTicket waiter = open.queue("pool", one);
        open.renew(waiter);
        assertThat(waiter.grants).isEmpty();

        secret.release(hidden);
        // One more that nobody hears of: as many are queued as before.
        secret.queue("pool", Demand.permits(3, 3));

        await().until(() -> {
            open.renew(waiter);
            return !waiter.grants.isEmpty();
        });
    }

    @Test
    void P1_aHiddenNodeInADirectoryMadeAnewIsAheadThoughItsNumberWasSeenBefore() throws Exception {
        makeDirectory("renumbered");
        // A view outlives its last waiter by a tick.
        try (StoreBench patient = StoreBench.at("zookeeper://127.0.0.1:" + proxy.port() + "/locks?tick=5s", TTL)) {
            TestTicket first = open.acquire("renumbered");
            TestTicket second = patient.queue("renumbered");
            open.release(first);
            assertThat(second.grants.poll(20, SECONDS)).isNotNull();
            patient.release(second);
            admin.delete("/locks/renumbered", -1);
            admin.create("/locks/renumbered", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER);
            secret.acquire("renumbered");

            TestTicket last = patient.queue("renumbered");

            patient.renew(last);
            assertThat(last.grants).isEmpty();
        }
    }

    @Test
    void aHiddenNodeFarAheadIsAskedForByHeartbeats() throws Exception {
        makeDirectory("far-hidden");
        foreign("far-hidden");
        TestTicket hidden = secret.queue("far-hidden");
        for (int i = 0; i < 63; i++) {
            foreign("far-hidden");
        }
        TestTicket waiter = open.queue("far-hidden");
        open.renew(waiter);
        assertThat(counted.sinceLastAsked()).doesNotContainKey("addWatch");

        secret.withdraw(hidden);

        await().until(() -> {
            open.renew(waiter);
            return counted.count("addWatch") == 1;
        });
    }

    private static void foreign(String lock) throws Exception {
        admin.create(
                "/locks/" + lock + "/_c_foreign-lock-",
                new byte[0],
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);
    }

    private static Holdfast connect(String uri, Duration ttl) {
        return Holdfast.builder()
                .store(uri)
                .defaults(LockOptions.defaults().withTtl(ttl))
                .connect();
    }
}
