package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.StoreUnavailableException;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.EtcdServer;
import io.holdfast.servers.wire.TlsClients;
import io.holdfast.servers.wire.TlsMaterial;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("TLS and logins of etcd")
class SecurityTest {

    private static EtcdServer withUsers(String... arguments) {
        EtcdServer server = EtcdServer.builder().args(arguments).start();
        Users.create(new Etcdctl(server.endpoint()));
        return server;
    }

    private static String uri(EtcdServer server) {
        return "etcd://" + Users.LOGIN + "@127.0.0.1:" + server.port();
    }

    @Test
    void locksWorkWithALoginThatMayOnlyTouchThePrefix() {
        try (EtcdServer server = withUsers();
                TestClient one = TestClient.of(uri(server));
                TestClient two = TestClient.of(uri(server))) {
            TestTicket held = one.grant("lock");
            TestTicket waiter = two.enqueue("lock");
            assertThat(one.renew(held)).isEqualTo(Renewed.KEPT);
            one.release(held);
            two.release(waiter.arrived());
            assertThat(one.store
                            .views("", Optional.empty(), 10, TestClient.soon())
                            .locks())
                    .isEmpty();
        }
    }

    @Test
    void locksWorkWithALoginThatMayTouchTheKeysOfOneLockOnly() {
        try (EtcdServer server = EtcdServer.start()) {
            Etcdctl admin = new Etcdctl(server.endpoint());
            admin.run("role", "add", "one-lock");
            admin.run("role", "grant-permission", "one-lock", "readwrite", "--prefix", "holdfast/lock/");
            admin.run("user", "add", "narrow:pw");
            admin.run("user", "grant-role", "narrow", "one-lock");
            Users.create(admin);
            String uri = "etcd://narrow:pw@127.0.0.1:" + server.port();
            try (TestClient one = TestClient.of(uri);
                    TestClient two = TestClient.of(uri)) {
                one.store.ping(TestClient.soon());
                TestTicket held = one.grant("lock");
                TestTicket waiter = two.enqueue("lock");
                assertThat(one.renew(held)).isEqualTo(Renewed.KEPT);
                assertThat(two.renew(waiter)).isEqualTo(Renewed.KEPT);
                // Once more, since the first refusal may have been of a login that had lapsed.
                one.release(held);
                two.release(waiter.arrived());
                TestTicket again = one.grant("lock");
                TestTicket next = two.enqueue("lock");
                one.release(again);
                two.release(next.arrived());
            }
        }
    }

    @Test
    void aTokenThatExpiredOrWasForgottenIsRenewedUnseen() {
        try (EtcdServer server = withUsers("--auth-token-ttl", "1");
                TestClient one = TestClient.of(uri(server));
                TestClient two = TestClient.of(uri(server))) {
            Duration ttl = Duration.ofMinutes(1);
            TestTicket held = one.grant(one.ticket("lock", Demand.exclusive(), ttl));
            TestTicket waiter = two.enqueue(two.ticket("lock", Demand.exclusive(), ttl));
            // A restart forgets all tokens; those of the watch stream go with its connection.
            server.restart();
            await().ignoreExceptions()
                    .untilAsserted(() -> assertThat(one.renew(held)).isEqualTo(Renewed.KEPT));
            one.release(held);
            TestTicket next = waiter.arrived();

            // Idle for longer than a token lives: the next of each kind of request comes with an expired one.
            await().pollDelay(Duration.ofSeconds(3)).until(() -> true);
            TestTicket another = one.enqueue("lock");
            two.release(next);
            one.release(another.arrived());
        }
    }

    @Test
    void aLoginThatOneMemberDoesNotAnswerIsAskedOfTheNext() {
        try (EtcdServer server = withUsers();
                TcpProxy silent = TcpProxy.to(server.address());
                TestClient client = TestClient.of(
                        "etcd://" + Users.LOGIN + "@127.0.0.1:" + silent.port() + ",127.0.0.1:" + server.port())) {
            silent.cut();

            assertThat(client.attempt("lock")).isTrue();
        }
    }

    @Test
    void aDeadlineIsKeptWhileSomebodyElseWaitsForALogin() {
        try (EtcdServer server = withUsers();
                TcpProxy silent = TcpProxy.to(server.address());
                TestClient client =
                        TestClient.of("etcd://" + Users.LOGIN + "@127.0.0.1:" + silent.port() + "?timeout=20s")) {
            silent.cut();
            CompletableFuture<Boolean> patient = CompletableFuture.supplyAsync(() -> client.attempt("lock"));
            await().until(() -> silent.connections() > 0);

            Deadline hurry = Deadline.after(TimeSource.system(), Duration.ofMillis(200));
            assertThatThrownBy(() -> client.store.view("lock", hurry)).isInstanceOf(StoreUnavailableException.class);
            assertThat(patient).isNotDone();
        }
    }

    @Test
    void aWrongPasswordIsSaidToBeOne() {
        try (EtcdServer server = withUsers();
                TestClient wrong = TestClient.of("etcd://app:wrong@127.0.0.1:" + server.port());
                TestClient nobody = TestClient.of("etcd://127.0.0.1:" + server.port())) {
            assertThatThrownBy(() -> wrong.attempt("lock"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("cannot log in")
                    .hasMessageNotContaining("wrong@");
            assertThatThrownBy(() -> nobody.attempt("lock")).isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void aPrefixOneMayNotTouchIsSaidToBeOne() {
        try (EtcdServer server = withUsers();
                TestClient other = TestClient.of(uri(server) + "?prefix=other/")) {
            assertThatThrownBy(() -> other.attempt("lock"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("permission denied");
        }
    }

    @Test
    void locksWorkOverTlsWithAClientCertificate() {
        TlsMaterial tls = TlsMaterial.generate();
        try (EtcdServer server =
                EtcdServer.builder().tls(tls, TlsClients.CERTIFIED).start()) {
            String address = "etcds://127.0.0.1:" + server.port() + "?ca=" + tls.authorityCertificate();
            try (TestClient one =
                            TestClient.of(address + "&cert=" + tls.clientCertificate() + "&key=" + tls.clientKey());
                    TestClient stranger = TestClient.of(address)) {
                TestTicket held = one.grant("lock");
                TestTicket waiter = one.enqueue("lock");
                one.release(held);
                one.release(waiter.arrived());

                assertThatThrownBy(() -> stranger.attempt("lock")).isInstanceOf(StoreUnavailableException.class);
            }
        }
    }
}
