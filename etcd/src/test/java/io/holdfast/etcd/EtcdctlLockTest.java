package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.servers.EtcdServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("In one queue with etcdctl lock and Go's concurrency.Mutex")
class EtcdctlLockTest {

    /** Nobody renews here, and a process takes its time to start. */
    private static final Duration TTL = Duration.ofMinutes(1);

    private static EtcdServer server;
    private static Etcdctl etcdctl;

    private final String name = "lock-" + UUID.randomUUID();
    private TestClient client;

    @BeforeAll
    static void startServer() {
        server = EtcdServer.start();
        etcdctl = new Etcdctl(server.endpoint());
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        client = TestClient.of("etcd://127.0.0.1:" + server.port());
    }

    @AfterEach
    void disconnect() {
        client.close();
    }

    private TestTicket ticket() {
        return client.ticket(name, Demand.exclusive(), TTL);
    }

    private TestTicket reader() {
        return client.ticket(name, Demand.shared(), TTL);
    }

    @Test
    void weWaitForIt() throws Exception {
        ForeignLock foreign = new ForeignLock("holdfast/" + name);
        foreign.held.get(20, TimeUnit.SECONDS);

        assertThat(client.attempt(name)).isFalse();
        TestTicket waiter = client.enqueue(ticket());
        assertThat(client.renew(waiter)).isEqualTo(Renewed.KEPT);
        assertThat(waiter.isGranted()).isFalse();
        foreign.release();
        waiter.arrived();
    }

    @Test
    void itWaitsForUs() throws Exception {
        TestTicket grant = client.grant(ticket());
        ForeignLock foreign = new ForeignLock("holdfast/" + name);
        await().until(() -> etcdctl.keys("holdfast/" + name + "/").size() == 2);

        assertThat(foreign.held).isNotDone();
        client.release(grant);
        foreign.held.get(20, TimeUnit.SECONDS);
        foreign.release();
    }

    @Test
    void itWaitsForAllReadersAndTheyForIt() throws Exception {
        TestTicket one = client.grant(reader());
        TestTicket two = client.grant(reader());
        ForeignLock foreign = new ForeignLock("holdfast/" + name);
        await().until(() -> etcdctl.keys("holdfast/" + name + "/").size() == 3);
        TestTicket late = client.enqueue(reader());

        client.release(one);
        assertThat(foreign.held).isNotDone();
        client.release(two);
        foreign.held.get(20, TimeUnit.SECONDS);
        assertThat(late.isGranted()).isFalse();
        foreign.release();
        late.arrived();
    }

    @Test
    void bothAreServedInOrderOfArrival() throws Exception {
        TestTicket held = client.grant(ticket());
        ForeignLock second = new ForeignLock("holdfast/" + name);
        await().until(() -> etcdctl.keys("holdfast/" + name + "/").size() == 2);
        TestTicket third = client.enqueue(ticket());
        ForeignLock fourth = new ForeignLock("holdfast/" + name);
        await().until(() -> etcdctl.keys("holdfast/" + name + "/").size() == 4);

        client.release(held);
        second.held.get(20, TimeUnit.SECONDS);
        assertThat(third.isGranted()).isFalse();
        second.release();
        TestTicket mine = third.arrived();
        assertThat(fourth.held).isNotDone();
        client.release(mine);
        fourth.held.get(20, TimeUnit.SECONDS);
        fourth.release();
    }

    @Test
    void itsTurnComesThoughTheSlotAheadOfItIsUsedAgainAtOnce() throws Exception {
        TestTicket held = client.grant(ticket());
        ForeignLock foreign = new ForeignLock("holdfast/" + name);
        await().until(() -> etcdctl.keys("holdfast/" + name + "/").size() == 2);

        client.release(held);
        TestTicket again = client.enqueue(ticket());

        assertThat(etcdctl.keys("holdfast/" + name + "/")).contains("holdfast/" + name + "/0");
        foreign.held.get(20, TimeUnit.SECONDS);
        assertThat(again.isGranted()).isFalse();
        foreign.release();
        again.arrived();
    }

    @Test
    void withAnEmptyPrefixAPlainNameIsTheSameLockForBoth() throws Exception {
        try (TestClient bare = TestClient.of("etcd://127.0.0.1:" + server.port() + "?prefix=")) {
            ForeignLock foreign = new ForeignLock(name);
            foreign.held.get(20, TimeUnit.SECONDS);
            assertThat(bare.attempt(name)).isFalse();
            assertThat(bare.store.view(name, TestClient.soon()).holders()).hasSize(1);
            foreign.release();
        }
    }

    @Test
    void aForeignHolderIsShownWithoutAnOriginAndCanBeForcedOut() throws Exception {
        ForeignLock foreign = new ForeignLock("holdfast/" + name);
        foreign.held.get(20, TimeUnit.SECONDS);

        var holder = client.store.view(name, TestClient.soon()).holders().get(0);
        assertThat(holder.origin()).isEmpty();
        assertThat(holder.demand()).isEqualTo(Demand.exclusive());
        assertThat(client.store.forceRelease(name, TestClient.soon())).isEqualTo(1);
        client.grant(ticket());
        foreign.release();
    }

    /** An {@code etcdctl lock} that holds until told otherwise. */
    private static final class ForeignLock {

        final CompletableFuture<String> held = new CompletableFuture<>();
        private final Process process;

        ForeignLock(String name) {
            process = etcdctl.launch("lock", name);
            Thread reader = new Thread(this::read, "etcdctl-output");
            reader.setDaemon(true);
            reader.start();
        }

        /** It prints its key once it holds the lock. */
        private void read() {
            try (BufferedReader output =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                held.complete(String.valueOf(output.readLine()));
                // Nobody may close the pipe before etcdctl has written all: it would die of that, still holding.
                output.lines().forEach(line -> {});
            } catch (IOException e) {
                held.completeExceptionally(e);
            }
        }

        /** As Ctrl-C does. */
        void release() throws Exception {
            process.destroy();
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        }
    }
}
