package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveRequest;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Slots that are used again")
class SlotsTest extends MeddledTest {

    private String slot(String number) {
        return "holdfast/" + name + "/" + number;
    }

    @Test
    void p9AreTheSameForAllClientsOfAFreeLock() {
        // As many names as etcd has to pass whenever it looks at the lock, until it is compacted.
        for (int i = 0; i < 20; i++) {
            for (TestClient each : List.of(client, other)) {
                TestTicket grant = each.grant(name);
                assertThat(keys()).containsExactly(slot("0"));
                each.release(grant);
            }
        }
    }

    @Test
    void p9AreNotManyMoreThanTicketsInACrowd() {
        Set<String> names = new TreeSet<>();
        TestTicket held = client.grant(name);
        for (int round = 0; round < 20; round++) {
            List<TestTicket> crowd = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                crowd.add((i % 2 == 0 ? client : other).enqueue(name));
            }
            names.addAll(keys());
            assertThat(keys()).hasSize(11);
            for (int i = 0; i < 10; i++) {
                (i % 2 == 0 ? client : other).withdraw(crowd.get(i));
            }
        }
        assertThat(names).hasSizeLessThanOrEqualTo(8 * 11 + 64);
        client.release(held);
    }

    @Test
    void p3AReleaseThatArrivesAgainDoesNotFreeTheSlotsNextUser() {
        TestTicket held = client.grant(name);
        meddler.holdsUp = Meddler::deletesAKey;
        assertThatThrownBy(() -> client.release(held, Duration.ZERO, TestClient.in(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        meddler.holdsUp = txn -> false;
        assertThat(client.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
        // The same client, the same lease, the same slot.
        TestTicket next = client.grant(name);
        assertThat(keys()).containsExactly(slot("0"));

        assertThat(meddler.deliver(meddler.heldUp.get(0))).isFalse();

        assertThat(client.renew(next)).isEqualTo(Renewed.KEPT);
        assertThat(other.attempt(name)).isFalse();
    }

    @Test
    void p3AWithdrawnRequestOfUnknownOutcomeDoesNotFreeTheSlotsNextUser() {
        client.release(client.grant(name));
        meddler.holdsUp = Meddler::bindsAKey;
        TestTicket lost = client.ticket(name);
        assertThatThrownBy(() -> client.attempt(lost, TestClient.in(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        meddler.holdsUp = txn -> false;
        TestTicket held = client.grant(name);

        assertThat(client.withdraw(lost)).isEqualTo(Withdrawal.NOT_FOUND);

        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);
        assertThat(keys()).containsExactly(slot("0"));
    }

    @Test
    void p7ARequestUnderWayThatWasLookedForTogetherWithOthersIsLookedForAgain() {
        TestTicket held = client.grant(name);
        TestTicket waiter = client.enqueue(name);
        meddler.holdsUp = Meddler::bindsAKey;
        TestTicket late = client.ticket(name);
        assertThatThrownBy(() -> client.store.request(late.ticket, Mode.QUEUE, TestClient.in(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        meddler.holdsUp = txn -> false;

        assertThat(client.withdraw(waiter)).isEqualTo(Withdrawal.REMOVED);
        assertThat(client.withdraw(late)).isEqualTo(Withdrawal.NOT_FOUND);
        meddler.deliver(meddler.heldUp.get(0));
        assertThat(keys()).hasSize(2);

        assertThat(client.withdraw(late)).isEqualTo(Withdrawal.REMOVED);
        assertThat(keys()).hasSize(1);
        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);
    }

    @Test
    void p7ARequestThatLandsInTheSlotOfALostTicketGoesWithTheNextSweep() {
        Duration ttl = Duration.ofSeconds(3);
        meddler.holdsUp = Meddler::bindsAKey;
        TestTicket late = client.ticket(name, Demand.exclusive(), ttl);
        assertThatThrownBy(() -> client.attempt(late, TestClient.in(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        meddler.holdsUp = txn -> false;
        TestTicket held = client.grant(client.ticket(name, Demand.exclusive(), ttl));
        etcdctl.run("del", slot("0"));
        assertThat(meddler.deliver(meddler.heldUp.get(0))).isTrue();

        // The slot is there and on the same lease, but it is not the same ticket.
        assertThat(client.renew(held)).isEqualTo(Renewed.GONE);
        await().until(() -> keys().isEmpty());
    }

    /** Makes a key that nobody wants, in the first slot, as a request does whose answer is lost; no such request arrives then. */
    private void leaveAnOrphan(Duration ttl, Predicate<TxnRequest> heldUpNext) {
        meddler.holdsUp = Meddler::bindsAKey;
        assertThatThrownBy(() -> client.attempt(
                        client.ticket(name, Demand.exclusive(), ttl), TestClient.in(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        meddler.holdsUp = heldUpNext;
        assertThat(meddler.deliver(meddler.heldUp.remove(0))).isTrue();
    }

    private boolean listsTheFirstSlot(Object answer) {
        return answer instanceof LeaseTimeToLiveResponse listing
                && listing.getKeysList().contains(ByteString.copyFromUtf8(slot("0")));
    }

    @Test
    void p1ASweepSparesASlotThatWasTakenWhileItsListingWasUnderWay() {
        // Listed every third of it, and waited for as long: the listing is to be answered before that.
        Duration ttl = Duration.ofSeconds(12);
        client.release(client.grant(client.ticket(name, Demand.exclusive(), ttl)));
        meddler.delaysAnswerTo = LeaseTimeToLiveRequest.class::isInstance;
        leaveAnOrphan(ttl, txn -> false);
        await().until(() -> meddler.underWay.stream().anyMatch(this::listsTheFirstSlot));
        etcdctl.run("del", slot("0"));
        TestTicket held = client.grant(client.ticket(name, Demand.exclusive(), ttl));
        long swept = held.session().sweptNanos();
        // etcd says up to which revision it knows when it has listed, perhaps at another member.
        meddler.keyListings = listing -> listing.toBuilder()
                .setHeader(listing.getHeader().toBuilder().setRevision(held.token()))
                .build();

        meddler.letGo();

        await().until(() -> held.session().sweptNanos() != swept);
        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);
        assertThat(other.attempt(name)).isFalse();
    }

    @Test
    void p1ASweepSparesASlotThatWasTakenAfterItsListing() {
        Duration ttl = Duration.ofSeconds(6);
        client.release(client.grant(client.ticket(name, Demand.exclusive(), ttl)));
        leaveAnOrphan(ttl, Meddler::deletesAKey);
        await().until(() -> !meddler.heldUp.isEmpty());
        meddler.holdsUp = txn -> false;
        etcdctl.run("del", slot("0"));
        TestTicket held = client.grant(client.ticket(name, Demand.exclusive(), ttl));

        assertThat(meddler.deliver(meddler.heldUp.get(0))).isFalse();

        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);
        assertThat(other.attempt(name)).isFalse();
    }

    @Test
    void p2ARequestThatIsMadeTwiceIsOneTicketWithTheTokenOfTheFirst() {
        meddler.doubles = Meddler::bindsAKey;
        TestTicket tried = client.ticket(name + "-tried");
        assertThat(client.attempt(tried)).isTrue();
        TestTicket held = client.grant(name);
        TestTicket waiter = client.enqueue(name);
        TestTicket shared = client.ticket(name + "-shared", Demand.shared(), TestClient.TTL);
        assertThat(client.attempt(shared)).isTrue();
        meddler.doubles = txn -> false;

        assertThat(keys()).hasSize(2);
        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);
        assertThat(client.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(client.release(waiter.arrived())).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(client.release(tried)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(client.release(shared)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(keys()).isEmpty();
    }

    @Test
    void p1AnExtensionAndADowngradeThatAreMadeTwiceCostNobodyHisLock() {
        TestTicket held = client.grant(name);
        meddler.doubles = txn -> true;
        assertThat(client.extend(held, Duration.ofMinutes(1), TestClient.soon()))
                .isEqualTo(Renewed.KEPT);
        client.store.downgrade(held.ticket, TestClient.soon());
        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);

        assertThat(keys()).hasSize(1);
        assertThat(other.attempt(name)).isFalse();
        client.release(held);
        assertThat(keys()).isEmpty();
    }

    @Test
    void p1ADowngradeThatIsDoneAndThenRefusedIsNotTakenForRefused() {
        TestTicket held = client.grant(name);
        meddler.refusesSecond = txn -> true;

        assertThatThrownBy(() -> client.store.downgrade(held.ticket, TestClient.soon()))
                .isInstanceOf(UnknownOutcomeException.class);
        meddler.refusesSecond = txn -> false;
        // So the lock is not held alone any more.
        assertThat(other.attempt(other.ticket(name, Demand.shared(), TestClient.TTL)))
                .isTrue();
    }

    @Test
    void p1AnExtensionThatIsDoneAndThenRefusedIsFollowed() {
        TestTicket held = client.grant(name);
        meddler.refusesSecond = Meddler::bindsAKey;
        assertThat(client.extend(held, Duration.ofMinutes(1), TestClient.soon()))
                .isEqualTo(Renewed.FAILING);
        meddler.refusesSecond = txn -> false;

        await().until(() -> client.renew(held), Renewed.KEPT::equals);
        assertThat(other.attempt(name)).isFalse();
    }

    @Test
    void p7AMoveThatIsPrecludedTwiceIsPrecluded() {
        TestTicket held = client.grant(name);
        meddler.holdsUp = Meddler::bindsAKey;
        assertThat(client.extend(held, Duration.ofMinutes(1), TestClient.in(Duration.ofMillis(1500))))
                .isEqualTo(Renewed.FAILING);
        meddler.holdsUp = txn -> false;
        meddler.doubles = txn -> true;

        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);

        assertThat(meddler.deliver(meddler.heldUp.get(0))).isFalse();
    }

    @Test
    void twoExtensionsAtOnceBothKeepTheLock() {
        TestTicket held = client.grant(name);
        other.grant(name + "-other");
        await().until(() -> leases().contains(held.session().leaseHex()) && leases().size() >= 2);
        Set<String> before = leases();
        meddler.delaysAnswerTo = request -> request instanceof TxnRequest txn && Meddler.bindsAKey(txn);
        CompletableFuture<Renewed> first =
                CompletableFuture.supplyAsync(() -> client.extend(held, Duration.ofMinutes(1), TestClient.soon()));
        await().until(() -> !meddler.underWay.isEmpty());
        meddler.delaysAnswerTo = request -> false;
        CompletableFuture<Renewed> second =
                CompletableFuture.supplyAsync(() -> client.extend(held, Duration.ofMinutes(2), TestClient.soon()));
        await().pollDelay(Duration.ofMillis(300)).until(() -> true);
        meddler.letGo();

        assertThat(first.orTimeout(20, TimeUnit.SECONDS).join()).isEqualTo(Renewed.KEPT);
        assertThat(second.orTimeout(20, TimeUnit.SECONDS).join()).isEqualTo(Renewed.KEPT);

        assertThat(held.ticket.givenTtl()).isEqualTo(Duration.ofMinutes(2));
        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);
        assertThat(other.attempt(name)).isFalse();
        client.release(held);
        // None that an overtaken move has left.
        await().until(() -> before.containsAll(leases()));
    }

    private static Set<String> leases() {
        return new TreeSet<>(etcdctl.leases("holdfast/%session/"));
    }

    @Test
    void p7ARequestThatArrivesAfterTheClientWasClosedTakesNothingOnALeaseOfTheUsers() {
        String lease = etcdctl.newLease(Duration.ofMinutes(1));
        TestClient lent = new TestClient(meddler.store("lease=" + lease));
        lent.release(lent.grant(name));
        meddler.holdsUp = Meddler::bindsAKey;
        assertThatThrownBy(() -> lent.attempt(lent.ticket(name), TestClient.in(Duration.ofMillis(500))))
                .isInstanceOf(LockException.class);
        meddler.holdsUp = txn -> false;
        lent.close();

        meddler.deliver(meddler.heldUp.get(0));

        assertThat(keys()).isEmpty();
        assertThat(etcdctl.keys("holdfast/%session/" + lease + "-")).isEmpty();
    }
}
