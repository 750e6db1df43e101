package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.UnsupportedLockException;
import io.holdfast.etcd.TestClient.Waiter;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A line of keys in etcd")
class LineTest {

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
        Grant grant = one.grant(name);

        assertThat(keys()).hasSize(1).first().asString().matches("holdfast/" + name + "/[0-9a-f]+-1");
        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(keys()).isEmpty();
    }

    @Test
    void aTryOnATakenLockIsRefusedAndLeavesNoTrace() {
        one.grant(name);

        assertThat(two.attempt(name)).isInstanceOf(Answer.Refused.class);
        assertThat(keys()).hasSize(1);
    }

    @Test
    void p6WaitersAreServedInOrderOfArrival() {
        Grant held = one.grant(name);
        Waiter second = two.enqueue(name);
        Waiter third = one.enqueue(name);
        Waiter fourth = two.enqueue(name);

        one.release(held);
        Grant next = second.arrived();
        assertThat(third.isGranted()).isFalse();
        two.release(next);
        next = third.arrived();
        assertThat(fourth.isGranted()).isFalse();
        one.release(next);
        fourth.arrived();
    }

    @Test
    void p2EveryGrantHasALargerTokenThanTheOneBefore() {
        Grant first = one.grant(name);
        Waiter waiter = two.enqueue(name);
        one.release(first);
        Grant second = waiter.arrived();
        two.release(second);
        Grant third = one.grant(name);

        assertThat(second.token()).isGreaterThan(first.token());
        assertThat(third.token()).isGreaterThan(second.token());
    }

    @Test
    void aWaiterWhoLeavesInTheMiddleLetsNobodyIn() {
        Grant held = one.grant(name);
        Waiter middle = two.enqueue(name);
        Waiter last = one.enqueue(name);

        assertThat(two.withdraw(middle.request)).isEqualTo(Withdrawal.REMOVED);
        assertThat(two.withdraw(middle.request)).isEqualTo(Withdrawal.NOT_FOUND);
        assertThat(one.renew(last.ticket)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(last.isGranted()).isFalse();

        one.release(held);
        last.arrived();
        assertThat(middle.isGranted()).isFalse();
    }

    @Test
    void p3ALateReleaseFreesNoSuccessor() {
        Grant stale = one.grant(name);
        etcdctl.run("del", keys().get(0));
        Grant current = two.grant(name);

        assertThat(one.release(stale)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(two.renew(current)).isInstanceOf(RenewalAnswer.Extended.class);
    }

    @Test
    void aRenewalFindsOutThatItsKeyIsGone() {
        Grant grant = one.grant(name);
        etcdctl.run("del", keys().get(0));

        assertThat(one.renew(grant)).isInstanceOf(RenewalAnswer.Gone.class);
    }

    @Test
    void aRenewalNeverShortensAndTellsTheBaseOfItsSending() {
        Grant grant = one.grant(name);
        long before = System.nanoTime();
        RenewalAnswer.Extended extended = (RenewalAnswer.Extended) one.renew(grant);

        assertThat(extended.baseNanos()).isBetween(before, System.nanoTime());
        assertThat(extended.ttl()).isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void anExtensionBeyondTheTtlMovesTheKeyToALeaseOfItsOwnAndKeepsItsToken() {
        Grant grant = one.grant(name);
        Grant other = one.grant(name + "-other");
        RenewalAnswer answer = one.store
                .renew(List.of(new RenewalRequest(grant, Duration.ofSeconds(60))), TestClient.soon())
                .get(0);

        assertThat(((RenewalAnswer.Extended) answer).ttl()).isEqualTo(Duration.ofSeconds(60));
        assertThat(one.renew(grant)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(one.renew(other)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(one.store.view(name, TestClient.soon()).holders().get(0).token())
                .isEqualTo(grant.token() * 1024);
        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
    }

    @Test
    void readersShareAndAWriterWaitsForAllOfThem() {
        Grant reader = one.grant(one.request(name, SHARED, TestClient.TTL));
        Grant another = two.grant(two.request(name, SHARED, TestClient.TTL));
        Waiter writer = one.enqueue(name);
        Waiter late = two.enqueue(two.request(name, SHARED, TestClient.TTL));

        two.release(another);
        assertThat(one.renew(writer.ticket)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(writer.isGranted()).isFalse();
        one.release(reader);
        Grant written = writer.arrived();
        assertThat(late.isGranted()).isFalse();
        one.release(written);
        late.arrived();
    }

    @Test
    void allReadersBehindAWriterAreLetInTogether() {
        Grant writer = one.grant(name);
        List<Waiter> readers = List.of(
                two.enqueue(two.request(name, SHARED, TestClient.TTL)),
                one.enqueue(one.request(name, SHARED, TestClient.TTL)),
                two.enqueue(two.request(name, SHARED, TestClient.TTL)));

        one.release(writer);
        readers.forEach(Waiter::arrived);
    }

    @Test
    void aReaderMayTryBesideReadersButNotPastAWaitingWriter() {
        one.grant(one.request(name, SHARED, TestClient.TTL));

        assertThat(two.attempt(two.request(name, SHARED, TestClient.TTL))).isInstanceOf(Answer.Granted.class);
        one.enqueue(name);
        assertThat(two.attempt(two.request(name, SHARED, TestClient.TTL))).isInstanceOf(Answer.Refused.class);
    }

    @Test
    void permitsAreGivenUpToTheirTotal() {
        Grant first = one.grant(permits(one, 2));
        two.grant(permits(two, 1));
        Waiter large = two.enqueue(permits(two, 2));
        Waiter small = one.enqueue(permits(one, 1));

        assertThat(two.attempt(permits(two, 1))).isInstanceOf(Answer.Refused.class);
        assertThat(large.isGranted()).isFalse();
        one.release(first);
        Grant granted = large.arrived();
        assertThat(small.isGranted()).isFalse();
        two.release(granted);
        small.arrived();
    }

    private Request permits(TestClient client, int count) {
        return client.request(name, Demand.permits(count, 3), TestClient.TTL);
    }

    @Test
    void aDowngradedWriterLetsReadersInAndKeepsItsToken() {
        Grant writer = one.grant(name);
        Waiter reader = two.enqueue(two.request(name, SHARED, TestClient.TTL));
        Waiter nextWriter = two.enqueue(name);

        Grant shared = one.store.downgrade(writer, TestClient.soon());
        assertThat(shared.token()).isEqualTo(writer.token());
        Grant read = reader.arrived();
        assertThat(nextWriter.isGranted()).isFalse();
        one.release(shared);
        two.release(read);
        nextWriter.arrived();
    }

    @Test
    void aLostWriterCannotBeDowngraded() {
        Grant writer = one.grant(name);
        etcdctl.run("del", keys().get(0));

        assertThatThrownBy(() -> one.store.downgrade(writer, TestClient.soon())).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void aForcedReleaseTellsTheHolderAtOnceAndLetsTheNextIn() {
        Grant held = one.grant(name);
        Waiter waiter = two.enqueue(name);

        assertThat(two.store.forceRelease(name, TestClient.soon())).isEqualTo(1);
        assertThat(waiter.arrived().token()).isGreaterThan(held.token());
        await().untilAsserted(() ->
                assertThat(one.losses).containsEntry(held.request().owner(), LossReason.FORCED));
        assertThat(one.renew(held)).isInstanceOf(RenewalAnswer.Gone.class);
    }

    @Test
    void aReleasedLockLingers() {
        Request request = one.request(name);
        Grant grant = one.grant(request);

        long before = System.nanoTime();
        one.store.release(grant, Duration.ofMillis(1500), TestClient.soon());
        assertThat(two.attempt(name)).isInstanceOf(Answer.Refused.class);
        Grant next = two.grant(name);
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(Duration.ofMillis(1490));
        assertThat(next.token()).isGreaterThan(grant.token());
    }

    @Test
    void p4ALockThatLingersPassesOnEvenIfItsClientIsGone() {
        Grant grant = one.grant(name);
        one.store.release(grant, Duration.ofSeconds(1), TestClient.soon());
        one.close();

        two.grant(name);
    }

    @Test
    void p4AFixedLeaseEndsByItselfThoughItsSessionLivesOn() {
        Request fixed = one.request(name, Demand.exclusive(), Duration.ofSeconds(2));
        one.grant(fixed);
        Waiter waiter = two.enqueue(name);

        Grant next = waiter.arrived();
        assertThat(next.token()).isPositive();
        assertThat(one.grant(one.request(name + "2", Demand.exclusive(), Duration.ofSeconds(2))))
                .isNotNull();
    }

    @Test
    void viewsShowHoldersAndWaitersInOrder() {
        Grant held = one.grant(name);
        two.enqueue(two.request(name, SHARED, TestClient.TTL));

        LockView view = two.store.view(name, TestClient.soon());
        assertThat(view.holders()).hasSize(1);
        assertThat(view.holders().get(0).token()).isEqualTo(held.token() * 1024);
        assertThat(view.holders().get(0).origin().orElseThrow().host()).isEqualTo("here");
        assertThat(view.holders().get(0).timeLeft()).isPresent();
        assertThat(view.waiters()).hasSize(1);
        assertThat(view.waiters().get(0).demand()).isEqualTo(SHARED);
        // The time left is another a second later.
        assertThat(two.store.views(name, TestClient.soon()))
                .usingRecursiveFieldByFieldElementComparatorIgnoringFields("holders.timeLeft")
                .containsExactly(view);
        assertThat(two.store.views("", TestClient.soon()))
                .extracting(LockView::name)
                .contains(name);
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
            assertThat(one.attempt(each)).as(each).isInstanceOf(Answer.Granted.class);
        }
        for (String each : names) {
            assertThat(two.attempt(each)).as(each).isInstanceOf(Answer.Refused.class);
        }
        assertThat(two.store.views("", TestClient.soon()).stream().map(LockView::name))
                .containsAll(names);
        etcdctl.run("del", "--prefix", "holdfast/");
    }

    @Test
    void p8ClosingGivesTheLeasesBack() {
        Grant grant = one.grant(one.request(name, Demand.exclusive(), Duration.ofMinutes(5)));
        one.release(grant);
        String lease = Long.toHexString(
                ((Place) Objects.requireNonNull(grant.handle())).session().lease());
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
            Request request = three.request(name, Demand.exclusive(), Duration.ofSeconds(5));
            Grant held = three.grant(request);
            Waiter waiter = four.enqueue(four.request(name, Demand.exclusive(), Duration.ofSeconds(5)));
            assertThat(keys()).allMatch(key -> key.contains("/" + lease + "-"));
            assertThat(three.renew(held)).isInstanceOf(RenewalAnswer.Extended.class);
            three.release(held);
            four.release(waiter.arrived());
            assertThatThrownBy(() -> three.grant(name)).isInstanceOf(UnsupportedLockException.class);
        }
        assertThat(etcdctl.run("lease", "list")).contains(lease);
        assertThat(keys()).isEmpty();
    }

    @Test
    void aClientMayLeaveItsLeaseToExpire() {
        TestClient three = TestClient.of("etcd://127.0.0.1:" + server.port() + "?orphan=true");
        Grant grant = three.grant(name);
        String lease = Long.toHexString(
                ((Place) Objects.requireNonNull(grant.handle())).session().lease());
        three.release(grant);
        three.close();

        assertThat(etcdctl.run("lease", "list")).contains(lease);
    }
}
