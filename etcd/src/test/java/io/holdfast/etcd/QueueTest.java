package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.UnsupportedLockException;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.LockStore.Page;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A queue of keys in etcd")
class QueueTest {

    private static final Demand SHARED = Demand.shared();

    private static EtcdServer server;
    private static Etcdctl etcdctl;

    private final String name = "lock-" + UUID.randomUUID();
    private TestClient one;
    private TestClient two;

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
        one = TestClient.of("etcd://127.0.0.1:" + server.port());
        two = TestClient.of("etcd://127.0.0.1:" + server.port());
    }

    @AfterEach
    void disconnect() {
        one.close();
        two.close();
    }

    private List<String> keys() {
        return etcdctl.keys("holdfast/" + name + "/");
    }

    @Test
    void aFreeLockIsGrantedAtOnceAndItsReleaseLeavesNothing() {
        TestTicket grant = one.grant(name);

        assertThat(keys()).containsExactly("holdfast/" + name + "/0");
        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(keys()).isEmpty();
    }

    @Test
    void aTryOnATakenLockIsRefusedAndLeavesNoTrace() {
        one.grant(name);

        assertThat(two.attempt(name)).isFalse();
        assertThat(keys()).hasSize(1);
    }

    @Test
    void p6WaitersAreServedInOrderOfArrival() {
        TestTicket held = one.grant(name);
        TestTicket second = two.enqueue(name);
        TestTicket third = one.enqueue(name);
        TestTicket fourth = two.enqueue(name);

        one.release(held);
        TestTicket next = second.arrived();
        assertThat(third.isGranted()).isFalse();
        two.release(next);
        next = third.arrived();
        assertThat(fourth.isGranted()).isFalse();
        one.release(next);
        fourth.arrived();
    }

    @Test
    void p2EveryGrantHasALargerTokenThanTheOneBefore() {
        TestTicket first = one.grant(name);
        TestTicket waiter = two.enqueue(name);
        one.release(first);
        TestTicket second = waiter.arrived();
        two.release(second);
        TestTicket third = one.grant(name);

        assertThat(second.token()).isGreaterThan(first.token());
        assertThat(third.token()).isGreaterThan(second.token());
    }

    @Test
    void aWaiterWhoLeavesInTheMiddleLetsNobodyIn() {
        TestTicket held = one.grant(name);
        TestTicket middle = two.enqueue(name);
        TestTicket last = one.enqueue(name);

        assertThat(two.withdraw(middle)).isEqualTo(Withdrawal.REMOVED);
        assertThat(two.withdraw(middle)).isEqualTo(Withdrawal.NOT_FOUND);
        assertThat(one.renew(last)).isEqualTo(Renewed.KEPT);
        assertThat(last.isGranted()).isFalse();

        one.release(held);
        last.arrived();
        assertThat(middle.isGranted()).isFalse();
    }

    @Test
    void p3ALateReleaseFreesNoSuccessor() {
        TestTicket stale = one.grant(name);
        etcdctl.run("del", keys().get(0));
        TestTicket current = two.grant(name);

        assertThat(one.release(stale)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(two.renew(current)).isEqualTo(Renewed.KEPT);
    }

    @Test
    void aRenewalFindsOutThatItsKeyIsGone() {
        TestTicket grant = one.grant(name);
        etcdctl.run("del", keys().get(0));

        assertThat(one.renew(grant)).isEqualTo(Renewed.GONE);
    }

    @Test
    void aRenewalNeverShortensAndTellsTheBaseOfItsSending() {
        TestTicket grant = one.grant(name);
        long before = System.nanoTime();
        assertThat(one.renew(grant)).isEqualTo(Renewed.KEPT);

        assertThat(grant.ticket.baseNanos()).isBetween(before, System.nanoTime());
        assertThat(grant.ticket.givenTtl()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void anExtensionBeyondTheTtlMovesTheKeyToALeaseOfItsOwnAndKeepsItsToken() {
        TestTicket grant = one.grant(name);
        TestTicket other = one.grant(name + "-other");
        assertThat(one.extend(grant, Duration.ofSeconds(60), TestClient.soon())).isEqualTo(Renewed.KEPT);

        assertThat(grant.ticket.givenTtl()).isEqualTo(Duration.ofSeconds(60));
        assertThat(one.renew(grant)).isEqualTo(Renewed.KEPT);
        assertThat(one.renew(other)).isEqualTo(Renewed.KEPT);
        assertThat(one.store.view(name, TestClient.soon()).holders().get(0).token())
                .contains(grant.token());
        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
    }

    @Test
    void readersShareAndAWriterWaitsForAllOfThem() {
        TestTicket reader = one.grant(one.ticket(name, SHARED, TestClient.TTL));
        TestTicket another = two.grant(two.ticket(name, SHARED, TestClient.TTL));
        TestTicket writer = one.enqueue(name);
        TestTicket late = two.enqueue(two.ticket(name, SHARED, TestClient.TTL));

        two.release(another);
        assertThat(one.renew(writer)).isEqualTo(Renewed.KEPT);
        assertThat(writer.isGranted()).isFalse();
        one.release(reader);
        TestTicket written = writer.arrived();
        assertThat(late.isGranted()).isFalse();
        one.release(written);
        late.arrived();
    }

    @Test
    void allReadersBehindAWriterAreLetInTogether() {
        TestTicket writer = one.grant(name);
        List<TestTicket> readers = List.of(
                two.enqueue(two.ticket(name, SHARED, TestClient.TTL)),
                one.enqueue(one.ticket(name, SHARED, TestClient.TTL)),
                two.enqueue(two.ticket(name, SHARED, TestClient.TTL)));

        one.release(writer);
        readers.forEach(TestTicket::arrived);
    }

    @Test
    void aReaderMayTryBesideReadersButNotPastAWaitingWriter() {
        one.grant(one.ticket(name, SHARED, TestClient.TTL));

        assertThat(two.attempt(two.ticket(name, SHARED, TestClient.TTL))).isTrue();
        one.enqueue(name);
        assertThat(two.attempt(two.ticket(name, SHARED, TestClient.TTL))).isFalse();
    }

    @Test
    void permitsAreGivenUpToTheirTotal() {
        TestTicket first = one.grant(permits(one, 2));
        two.grant(permits(two, 1));
        TestTicket large = two.enqueue(permits(two, 2));
        TestTicket small = one.enqueue(permits(one, 1));

        assertThat(two.attempt(permits(two, 1))).isFalse();
        assertThat(large.isGranted()).isFalse();
        one.release(first);
        TestTicket granted = large.arrived();
        assertThat(small.isGranted()).isFalse();
        two.release(granted);
        small.arrived();
    }

    private TestTicket permits(TestClient client, int count) {
        return client.ticket(name, Demand.permits(count, 3), TestClient.TTL);
    }

    @Test
    void aDowngradedWriterLetsReadersInAndKeepsItsToken() {
        TestTicket writer = one.grant(name);
        TestTicket reader = two.enqueue(two.ticket(name, SHARED, TestClient.TTL));
        TestTicket nextWriter = two.enqueue(name);

        long token = writer.token();
        one.store.downgrade(writer.ticket, TestClient.soon());
        assertThat(writer.ticket.demand()).isEqualTo(SHARED);
        assertThat(writer.token()).isEqualTo(token);
        TestTicket read = reader.arrived();
        assertThat(nextWriter.isGranted()).isFalse();
        one.release(writer);
        two.release(read);
        nextWriter.arrived();
    }

    @Test
    void aLostWriterCannotBeDowngraded() {
        TestTicket writer = one.grant(name);
        etcdctl.run("del", keys().get(0));

        one.store.downgrade(writer.ticket, TestClient.soon());

        assertThat(writer.heardOfLoss()).isEqualTo(LossReason.GONE);
        assertThat(writer.ticket.demand()).isEqualTo(Demand.exclusive());
    }

    @Test
    void aForcedReleaseTellsTheHolderAtOnceAndLetsTheNextIn() {
        TestTicket held = one.grant(name);
        TestTicket waiter = two.enqueue(name);

        assertThat(two.store.forceRelease(name, TestClient.soon())).isEqualTo(1);
        assertThat(waiter.arrived().token()).isGreaterThan(held.token());
        assertThat(held.heardOfLoss()).isEqualTo(LossReason.FORCED);
        assertThat(one.renew(held)).isEqualTo(Renewed.GONE);
    }

    @Test
    void aReleasedLockLingers() {
        TestTicket grant = one.grant(name);
        assertThat(two.attempt(name)).isFalse();

        long before = System.nanoTime();
        one.release(grant, Duration.ofMillis(1500), TestClient.soon());
        assertThat(two.attempt(name)).isFalse();
        TestTicket next = two.grant(name);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(Duration.ofMillis(1490));
        assertThat(next.token()).isGreaterThan(grant.token());
    }

    @Test
    void p4ALockThatLingersPassesOnEvenIfItsClientIsGone() {
        TestTicket grant = one.grant(name);
        one.release(grant, Duration.ofSeconds(1), TestClient.soon());
        one.close();

        two.grant(name);
    }

    @Test
    void p4AFixedLeaseEndsByItselfThoughItsSessionLivesOn() {
        TestTicket fixed = one.ticket(name, Demand.exclusive(), Duration.ofSeconds(2));
        one.grant(fixed);
        TestTicket waiter = two.enqueue(name);

        TestTicket next = waiter.arrived();
        assertThat(next.token()).isPositive();
        assertThat(one.grant(one.ticket(name + "2", Demand.exclusive(), Duration.ofSeconds(2))))
                .isNotNull();
    }

    @Test
    void viewsShowHoldersAndWaitersInOrder() {
        Instant before = Instant.now();
        TestTicket held = one.grant(name);
        two.enqueue(two.ticket(name, SHARED, TestClient.TTL));

        LockView view = two.store.view(name, TestClient.soon());
        assertThat(view.holders()).hasSize(1);
        assertThat(view.holders().get(0).token()).contains(held.token());
        assertThat(view.holders().get(0).origin().orElseThrow().host()).isEqualTo("here");
        assertThat(view.holders().get(0).timeLeft()).isPresent();
        assertThat(view.holders().get(0).since())
                .hasValueSatisfying(since -> assertThat(since).isBetween(before, Instant.now()));
        assertThat(view.waiters()).hasSize(1);
        assertThat(view.waiters().get(0).demand()).isEqualTo(SHARED);
        // The time left is another a second later.
        assertThat(two.views(name))
                .usingRecursiveFieldByFieldElementComparatorIgnoringFields("holders.timeLeft")
                .containsExactly(view);
        assertThat(two.views("")).extracting(LockView::name).contains(name);
    }

    @Test
    void viewsComeInPagesAndEachLockIsWhole() {
        List<String> names = List.of(name, name + " ", name + "-a", name + "/", name + "/a", name + "0", name + "😀");
        for (String each : names) {
            one.grant(each);
            one.enqueue(each);
            two.enqueue(each);
        }
        List<LockView> views = new ArrayList<>();
        Optional<String> next = Optional.empty();
        do {
            Page page = two.store.views(name, next, 2, TestClient.soon());
            assertThat(page.locks()).hasSizeLessThanOrEqualTo(2);
            views.addAll(page.locks());
            next = page.next();
        } while (next.isPresent());

        assertThat(views).extracting(LockView::name).containsExactlyInAnyOrderElementsOf(names);
        assertThat(views).allSatisfy(view -> {
            assertThat(view.holders()).hasSize(1);
            assertThat(view.waiters()).hasSize(2);
        });
    }

    @Test
    void thePageWithTheLastLockSaysThatNothingFollows() {
        one.grant(name + "1");
        one.grant(name + "2");

        assertThat(two.store.views(name, Optional.empty(), 2, TestClient.soon()).next())
                .isEmpty();
        assertThat(two.store.views(name, Optional.empty(), 1, TestClient.soon()).next())
                .isPresent();
    }

    @Test
    void namesThatLookAlikeAreDifferentLocks() {
        List<String> names = List.of(
                name,
                name + " ",
                name + "/b",
                name + "%2Fb",
                name + "/",
                name + "//",
                name + "%",
                "/" + name,
                "%session",
                "..",
                "{a}",
                "x}y",
                "😀",
                name.toUpperCase(Locale.ROOT));
        for (String each : names) {
            assertThat(one.attempt(each)).as(each).isTrue();
        }
        for (String each : names) {
            assertThat(two.attempt(each)).as(each).isFalse();
        }
        assertThat(two.views("").stream().map(LockView::name)).containsAll(names);
        etcdctl.run("del", "--prefix", "holdfast/");
    }

    @Test
    void p8ClosingGivesTheLeasesBack() {
        TestTicket grant = one.grant(one.ticket(name, Demand.exclusive(), Duration.ofMinutes(5)));
        one.release(grant);
        String lease = grant.session().leaseHex();
        assertThat(etcdctl.run("lease", "list")).contains(lease);

        one.close();
        // Closing waits only so long for the answer.
        await().untilAsserted(() -> assertThat(etcdctl.run("lease", "list")).doesNotContain(lease));
    }

    @Test
    void aLeaseOfTheUsersIsKeptAliveAndSurvivesTheClient() {
        String lease = etcdctl.newLease(Duration.ofSeconds(5));
        String uri = "etcd://127.0.0.1:" + server.port() + "?lease=" + lease;
        try (TestClient three = TestClient.of(uri);
                TestClient four = TestClient.of(uri)) {
            TestTicket request = three.ticket(name, Demand.exclusive(), Duration.ofSeconds(5));
            TestTicket held = three.grant(request);
            TestTicket waiter = four.enqueue(four.ticket(name, Demand.exclusive(), Duration.ofSeconds(5)));
            assertThat(etcdctl.leases("holdfast/" + name + "/")).containsExactly(lease, lease);
            assertThat(three.renew(held)).isEqualTo(Renewed.KEPT);
            three.release(held);
            four.release(waiter.arrived());
            assertThatThrownBy(() -> three.grant(name)).isInstanceOf(UnsupportedLockException.class);
        }
        assertThat(etcdctl.run("lease", "list")).contains(lease);
        assertThat(keys()).isEmpty();
    }
}
