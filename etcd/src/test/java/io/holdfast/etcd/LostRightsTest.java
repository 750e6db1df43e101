package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A login that loses its right to one lock")
class LostRightsTest {

    private static final Duration TTL = Duration.ofSeconds(3);

    private EtcdServer server;
    private Etcdctl admin;
    private TestClient other;

    @BeforeEach
    void start() {
        server = EtcdServer.start();
        admin = new Etcdctl(server.endpoint());
        admin.run("role", "add", "some-locks");
        admin.run("user", "add", "narrow:pw");
        admin.run("user", "grant-role", "narrow", "some-locks");
        Users.create(admin);
        other = TestClient.of("etcd://" + Users.LOGIN + "@127.0.0.1:" + server.port());
    }

    @AfterEach
    void stop() {
        other.close();
        server.close();
    }

    private TestClient allowed(String... starts) {
        for (String start : starts) {
            changeRight("grant-permission", "some-locks", "readwrite", "--prefix", "holdfast/" + start);
        }
        return TestClient.of("etcd://narrow:pw@127.0.0.1:" + server.port());
    }

    private void takeAway(String start) {
        changeRight("revoke-permission", "some-locks", "--prefix", "holdfast/" + start);
    }

    private void changeRight(String... arguments) {
        List<String> all = new ArrayList<>(List.of("--user=" + Users.ADMIN, "role"));
        all.addAll(List.of(arguments));
        admin.run(all.toArray(String[]::new));
    }

    private static TestTicket grant(TestClient client, String name) {
        return client.grant(client.ticket(name, Demand.exclusive(), TTL));
    }

    /** Renews all in one batch, as the engine does. */
    private static void renew(TestClient client, List<TestTicket> those) {
        those.forEach(one -> one.kept.set(0));
        client.store.renew(those.stream().map(one -> one.ticket).toList(), TestClient.soon());
    }

    private static boolean isKept(TestTicket ticket) {
        return ticket.kept.get() > 0 && ticket.failure.isEmpty();
    }

    @Test
    void p9KeepsItsOtherLocks() {
        try (TestClient narrow = allowed("mine-", "taken/", "%session/")) {
            List<TestTicket> mine = new ArrayList<>();
            for (int i = 0; i < 150; i++) {
                mine.add(narrow.grant("mine-" + i));
            }
            TestTicket taken = narrow.grant("taken");
            List<TestTicket> all = new ArrayList<>(mine);
            all.add(42, taken);
            takeAway("taken/");

            renew(narrow, all);

            assertThat(mine).allMatch(LostRightsTest::isKept);
            assertThat(taken.isLost()).isFalse();
            assertThat(taken.failure.orElseThrow()).hasMessageContaining("permission");
        }
    }

    @Test
    void p9KeepsItsOtherLocksThoughTheKeyOfThatOneCannotBeSwept() {
        try (TestClient narrow = allowed("mine/", "next/", "taken/", "%session/")) {
            TestTicket mine = grant(narrow, "mine");
            TestTicket taken = grant(narrow, "taken");
            takeAway("taken/");
            assertThatThrownBy(() -> narrow.release(taken)).isInstanceOf(LockException.class);

            long end = System.nanoTime() + TTL.multipliedBy(3).toNanos();
            await().atMost(TTL.multipliedBy(4)).pollInterval(TTL.dividedBy(6)).until(() -> {
                assertThat(narrow.renew(mine)).isEqualTo(Renewed.KEPT);
                return System.nanoTime() - end > 0;
            });
            assertThat(other.store.view("taken", TestClient.soon()).holders()).hasSize(1);

            // Nothing new is bound to the lease that keeps the key.
            TestTicket next = grant(narrow, "next");
            narrow.release(mine);
            await().atMost(TTL.plusSeconds(3)).until(() -> {
                assertThat(narrow.renew(next)).isEqualTo(Renewed.KEPT);
                return other.attempt("taken");
            });
        }
    }

    @Test
    void p9WithdrawsFromTheQueuesOfOthers() {
        try (TestClient narrow = allowed("mine/", "taken/", "%session/")) {
            List<TestTicket> given = new ArrayList<>();
            for (String lock : List.of("mine", "taken")) {
                other.grant(lock);
                given.add(narrow.enqueue(lock));
            }
            given.forEach(waiter -> waiter.ticket.end());
            takeAway("taken/");

            assertThat(narrow.withdraw(given.get(0))).isEqualTo(Withdrawal.REMOVED);
            assertThat(other.store.view("mine", TestClient.soon()).waiters()).isEmpty();
        }
    }

    @Test
    void p9KeepsItsLocksWithoutTheRightToItsSessionsKey() {
        try (TestClient narrow = allowed("mine/", "%session/")) {
            TestTicket mine = grant(narrow, "mine");
            await().until(mine.session()::hasItsOwnKey);
            takeAway("%session/");

            assertThat(narrow.renew(mine)).isEqualTo(Renewed.KEPT);
            narrow.release(mine);
            await().pollDelay(TTL.plusSeconds(1)).until(() -> true);
            grant(narrow, "mine");
        }
    }

    @Test
    void p9UsesASessionThatWasOpenedForThatLock() {
        try (TestClient narrow = allowed("taken/", "mine/")) {
            narrow.release(grant(narrow, "taken"));
            takeAway("taken/");

            TestTicket mine = grant(narrow, "mine");
            assertThat(narrow.renew(mine)).isEqualTo(Renewed.KEPT);
            narrow.release(mine);
            // Nobody extends it meanwhile.
            await().pollDelay(TTL.dividedBy(3).multipliedBy(2)).until(() -> true);
            grant(narrow, "mine");
        }
    }
}
