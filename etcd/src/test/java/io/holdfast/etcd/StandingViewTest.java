package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.holdfast.Demand;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.PutRequest;
import io.holdfast.etcd.internal.wire.RangeRequest;
import io.holdfast.etcd.internal.wire.WatchResponse;
import io.holdfast.etcd.session.SessionProbe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A client's view of a queue in etcd")
class StandingViewTest extends MeddledTest {

    /** No renewal is due while a test runs. */
    private static final Duration LONG = Duration.ofMinutes(5);

    private TestTicket held;
    private long holdersSlotWasFreedAt;

    private static TestTicket enqueue(TestClient who, String lock) {
        return who.enqueue(who.ticket(lock, Demand.exclusive(), LONG));
    }

    private TestTicket enqueue(TestClient who) {
        return enqueue(who, name);
    }

    /** Waits in the queue, and hears what happens there. */
    private TestTicket enqueueAndSee() {
        int listings = meddler.listings.get();
        TestTicket waiter = enqueue(client);
        await().until(() -> meddler.watchIds.size() >= 2 && meddler.listings.get() > listings);
        return waiter;
    }

    /** Returns when somebody new in the queue was told to the client, and all that was told before. */
    private void awaitNewsOf(TestTicket joined) {
        await().until(() -> meddler.told.stream().anyMatch(told -> tellsOf(told, joined)));
    }

    private void awaitNewsOfAnEnd() {
        await().until(() -> meddler.told.stream()
                .flatMap(told -> told.getEventsList().stream())
                .anyMatch(event -> event.getType() == Event.EventType.DELETE));
    }

    private static boolean tellsOf(WatchResponse told, TestTicket joined) {
        return told.getEventsList().stream()
                .anyMatch(event -> event.getKv().getCreateRevision() == SessionProbe.createRevision(joined.ticket));
    }

    /** Waits behind one whose slot had another user before, with an exact view. */
    private TestTicket waiterBehindTheSecondUserOfASlot() {
        other.release(enqueue(other).arrived());
        held = enqueue(other).arrived();
        holdersSlotWasFreedAt = held.token() - 1;
        TestTicket waiter = enqueueAndSee();
        awaitNewsOf(enqueue(other));
        return waiter;
    }

    /** That the slot's first user went. */
    private WatchResponse oldNews(WatchResponse like) {
        return WatchResponse.newBuilder()
                .setHeader(like.getHeader())
                .setWatchId(like.getWatchId())
                .addEvents(Event.newBuilder()
                        .setType(Event.EventType.DELETE)
                        .setKv(KeyValue.newBuilder()
                                .setKey(ByteString.copyFromUtf8("holdfast/" + name + "/0"))
                                .setModRevision(holdersSlotWasFreedAt)))
                .build();
    }

    private boolean isOfTheQueue(WatchResponse response) {
        return response.getEventsList().stream()
                .anyMatch(event -> event.getKv().getKey().toStringUtf8().contains(name));
    }

    @Test
    void p1IsNotChangedByAnEventThatIsRepeated() {
        TestTicket waiter = waiterBehindTheSecondUserOfASlot();

        meddler.watched = told -> isOfTheQueue(told) ? List.of(oldNews(told), told, told) : List.of(told);
        awaitNewsOf(enqueue(other));

        assertThat(waiter.isGranted()).isFalse();
        other.release(held);
        waiter.arrived();
    }

    @Test
    void p1IsNotChangedByAnEventThatAReopenedWatchRepeats() {
        TestTicket waiter = waiterBehindTheSecondUserOfASlot();

        meddler.watched = told -> told.getCreated() ? List.of(told, oldNews(told)) : List.of(told);
        // The first is the session's.
        meddler.cancelWatch(meddler.watchIds.get(1));
        await().until(() -> meddler.watchIds.size() == 3);
        awaitNewsOf(enqueue(other));

        assertThat(waiter.isGranted()).isFalse();
        other.release(held);
        waiter.arrived();
    }

    @Test
    void p1GrantsNothingBeforeTheQueueIsListed() {
        TestTicket holder = enqueue(other).arrived();
        meddler.delaysAnswerTo = RangeRequest.class::isInstance;
        TestTicket first = enqueue(client);
        await().until(() -> !meddler.underWay.isEmpty());
        TestTicket second = enqueue(client);
        awaitNewsOf(second);

        assertThat(second.isGranted()).isFalse();
        meddler.letGo();
        other.release(holder);
        client.release(first.arrived());
        second.arrived();
    }

    @Test
    void p1GrantsNothingOnAListingThatIsOlderThanTheEventsThatCameMeanwhile() {
        TestTicket holder = enqueue(other).arrived();
        TestTicket waiter = client.ticket(name, Demand.exclusive(), LONG);
        meddler.delaysAnswerTo = RangeRequest.class::isInstance;
        client.enqueue(waiter);
        await().until(() -> !meddler.underWay.isEmpty());
        // The listing shows both; what happens now is told before it is answered.
        etcdctl.run("lease", "revoke", waiter.session().leaseHex());
        waiter.heardOfLoss();
        other.release(holder);
        meddler.letGo();

        assertThat(waiter.isGranted()).isFalse();
    }

    @Test
    void p1GrantsNothingOnAListingThatWasAskedForBeforeItsWatchWasReopened() {
        TestTicket holder = enqueue(other).arrived();
        meddler.delaysAnswerTo = RangeRequest.class::isInstance;
        TestTicket first = enqueue(client);
        await().until(() -> !meddler.underWay.isEmpty());
        meddler.delayWatches();
        meddler.cancelWatch(meddler.watchIds.get(1));
        await().until(() -> meddler.watchesToOpen() == 1);
        TestTicket unseen = enqueue(other);
        meddler.openWatches();
        await().until(() -> meddler.underWay.size() == 2);
        TestTicket last = enqueue(client);
        other.release(holder);
        client.withdraw(first);
        unseen.arrived();
        await().until(() -> meddler.told.stream()
                        .flatMap(told -> told.getEventsList().stream())
                        .filter(event -> event.getType() == Event.EventType.DELETE)
                        .count()
                == 2);

        // To the first listing, with what was told since, the last is the only one left.
        meddler.letFirstGo();

        await().during(Duration.ofMillis(300)).until(() -> !last.isGranted());
        meddler.letGo();
        other.release(unseen);
        last.arrived();
    }

    private void swallow(Predicate<WatchResponse> which) {
        meddler.watched = told -> which.test(told) ? List.of() : List.of(told);
    }

    @Test
    void p4IsReadAnewIfARenewalFindsThatAnEventWasSwallowed() {
        TestTicket holder = enqueue(other).arrived();
        TestTicket waiter = enqueueAndSee();
        awaitNewsOf(enqueue(other));
        swallow(this::isOfTheQueue);
        other.release(holder);
        awaitNewsOfAnEnd();
        assertThat(waiter.isGranted()).isFalse();
        meddler.watched = List::of;

        assertThat(client.renew(waiter)).isEqualTo(Renewed.KEPT);

        waiter.arrived();
    }

    @Test
    void p4IsReadAnewIfARenewalFindsThatTheWaiterIsNotInIt() {
        TestTicket holder = enqueue(other).arrived();
        TestTicket first = enqueueAndSee();
        awaitNewsOf(enqueue(other));
        swallow(this::isOfTheQueue);
        TestTicket second = enqueue(client);
        awaitNewsOf(second);
        meddler.watched = List::of;
        int listings = meddler.listings.get();

        assertThat(client.renew(second)).isEqualTo(Renewed.KEPT);

        await().until(() -> meddler.listings.get() > listings);
        other.release(holder);
        client.release(first.arrived());
    }

    @Test
    void p5TellsAWaiterWhoseTicketWentWhileNothingWasToldOfIt() {
        enqueue(other).arrived();
        TestTicket waiter = enqueueAndSee();
        swallow(this::isOfTheQueue);
        // The holder is in the first slot.
        String slot = keys().get(1);
        etcdctl.run("del", slot);
        awaitNewsOfAnEnd();
        meddler.watched = List::of;

        meddler.cancelWatch(meddler.watchIds.get(1));

        waiter.heardOfLoss();
    }

    @Test
    void p4LetsWaitersInThoughNoWatchOpens() {
        TestTicket holder = enqueue(other).arrived();
        meddler.delayWatches();
        TestTicket waiter = enqueue(client);
        other.release(holder);

        assertThat(client.renew(waiter)).isEqualTo(Renewed.KEPT);

        waiter.arrived();
        meddler.openWatches();
    }

    @Test
    void p1IsJudgedWhenARevocationThatComesInFragmentsIsComplete() {
        TestTicket holder = enqueue(client).arrived();
        TestTicket waiter = enqueueAndSee();
        awaitNewsOf(enqueue(other));
        // Between the two in the order of keys, so that they are told in different messages.
        long lease = Long.parseUnsignedLong(holder.session().leaseHex(), 16);
        List<String> fillers = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            fillers.add("holdfast/" + name + "/0-" + i + "-" + "x".repeat(9_000));
        }
        put(fillers, lease);
        int before = meddler.told.size();
        // Of the session itself nobody hears.
        swallow(told -> !told.getCreated() && !isOfTheQueue(told));
        etcdctl.run("lease", "revoke", holder.session().leaseHex());

        waiter.heardOfLoss();
        await().until(() ->
                meddler.told.stream().skip(before).filter(this::isOfTheQueue).count() > 1);
        assertThat(meddler.told.stream().filter(WatchResponse::getFragment)).isNotEmpty();
        assertThat(waiter.isGranted()).isFalse();
    }

    private static void put(List<String> keys, long lease) {
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.port())
                .usePlaintext()
                .build();
        try {
            for (String key : keys) {
                PutRequest put = PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setLease(lease)
                        .build();
                ClientCalls.blockingUnaryCall(channel, KVGrpc.getPutMethod(), CallOptions.DEFAULT, put);
            }
        } finally {
            channel.shutdownNow();
        }
    }

    @Test
    void p6IsKeptByThoseNearTheFrontOnly() {
        TestTicket holder = enqueue(other).arrived();
        List<TestTicket> ahead = new ArrayList<>();
        for (int i = 0; i < 70; i++) {
            ahead.add(enqueue(other));
        }
        TestTicket far = enqueue(client);
        await().until(() -> meddler.watchIds.size() == 2);
        int before = meddler.told.size();
        other.release(holder);
        for (int i = 0; i < 5; i++) {
            other.release(ahead.get(i).arrived());
        }
        assertThat(meddler.told.stream().skip(before).filter(this::isOfTheQueue))
                .isEmpty();

        for (int i = 5; i < 70; i++) {
            other.release(ahead.get(i).arrived());
        }
        far.arrived();
    }

    @Test
    void p6AFarWaiterWhoseWatchedTicketIsWithdrawnWatchesAnother() {
        TestTicket holder = enqueue(other).arrived();
        List<TestTicket> ahead = new ArrayList<>();
        for (int i = 0; i < 130; i++) {
            ahead.add(enqueue(other));
        }
        TestTicket far = enqueue(client);
        await().until(() -> meddler.watchIds.size() == 2);
        // The one 64 ahead, and as many before it that it stays far.
        other.withdraw(ahead.get(130 - 64));
        await().until(() -> meddler.watchIds.size() == 3);
        for (TestTicket each : ahead.subList(0, 60)) {
            other.withdraw(each);
        }
        other.release(holder);
        for (TestTicket each : ahead.subList(60, 130)) {
            if (each != ahead.get(130 - 64)) {
                other.release(each.arrived());
            }
        }
        far.arrived();
    }

    /** All but that one, one after the other, until those behind them can be served. */
    private void serve(List<TestTicket> those, TestTicket but) {
        those.stream().filter(each -> each != but).forEach(each -> other.release(each.arrived()));
    }

    @Test
    void p6AFarWaiterWhoseWatchedTicketGoesBeforeItsWatchIsOpenLooksAgain() {
        client.release(enqueue(client, name + "-before").arrived());
        await().until(() -> meddler.watchIds.size() == 1);
        List<TestTicket> ahead = new ArrayList<>();
        for (int i = 0; i < 71; i++) {
            ahead.add(enqueue(other));
        }
        meddler.delayWatches();
        TestTicket far = enqueue(client);
        await().until(() -> meddler.watchesToOpen() == 1);

        TestTicket watched = ahead.get(71 - 64);
        other.withdraw(watched);
        meddler.openWatches();

        serve(ahead, watched);
        far.arrived();
    }

    @Test
    void p6IsGivenUpByAClientWhoseNextTicketIsFarBehind() {
        TestTicket holder = enqueue(other).arrived();
        TestTicket near = enqueueAndSee();
        List<TestTicket> ahead = new ArrayList<>();
        for (int i = 0; i < 140; i++) {
            ahead.add(enqueue(other));
        }
        TestTicket far = enqueue(client);
        awaitNewsOf(far);
        int watches = meddler.watchIds.size();
        other.release(holder);
        client.release(near.arrived());
        await().until(() -> meddler.watchIds.size() > watches);
        int before = meddler.told.size();
        serve(ahead.subList(0, 20), near);

        assertThat(meddler.told.stream().skip(before).filter(this::isOfTheQueue))
                .isEmpty();
        serve(ahead.subList(20, 140), near);
        far.arrived();
    }
}
