package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.Request;
import io.holdfast.spi.TicketListener;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.params.SetParams;

@DisplayName("Handing the lock on when messages, connections and clients are lost")
class HandoverTest extends RedisTest {

    private String name;
    private TestClient holder;
    private TestClient other;

    @BeforeEach
    void connect() {
        name = name();
        holder = client();
        other = client();
    }

    private TestClient.Place queued(TestClient client) {
        return queued(client, TestClient.TTL);
    }

    private TestClient.Place queued(TestClient client, Duration ttl) {
        TestClient.Place place = client.enqueue(client.request(name, Demand.exclusive(), ttl));
        assertThat(place.isQueued()).isTrue();
        awaitSubscription(client);
        return place;
    }

    private Grant pushed(TestClient.Place place) {
        await().until(place.heard()::isGranted);
        return Objects.requireNonNull(place.heard().grant);
    }

    private TcpProxy proxy() {
        return closing(TcpProxy.to(server.address()), TcpProxy::close);
    }

    private TestClient through(TcpProxy proxy) {
        return client("redis://127.0.0.1:" + proxy.port());
    }

    private long millisUntil(TestClient.Place granted) {
        long start = System.nanoTime();
        pushed(granted);
        return Duration.ofNanos(System.nanoTime() - start).toMillis();
    }

    @Test
    void aKilledWaiterIsPassedOverAtOnce() {
        Grant held = holder.grant(name);
        TestClient dead = client();
        queued(dead);
        TestClient.Place next = queued(other);
        die(dead);

        holder.release(held);

        assertThat(millisUntil(next)).isLessThan(5000);
    }

    private boolean channelIsGone(TestClient client) {
        return redis.publish("holdfast:client:" + client.id(), "nobody 0-0 0 none") == 0;
    }

    @Test
    void aLiveWaiterWhoseSubscriptionBlinkedIsPassedOverButKeepsItsPlace() {
        TcpProxy proxy = proxy();
        TestClient blinking = through(proxy);
        Grant held = holder.grant(name);
        TestClient.Place first = queued(blinking);
        TestClient.Place second = queued(other);

        proxy.refuseConnections();
        proxy.resetConnections();
        await().until(() -> channelIsGone(blinking));
        holder.release(held);
        Grant passed = pushed(second);
        assertThat(first.heard().calls).isZero();
        TestClient.Place third = queued(holder);
        proxy.heal();
        awaitSubscription(blinking);
        other.release(passed);

        pushed(first);
        assertThat(third.heard().calls).isZero();
    }

    @Test
    void aGrantWhoseMessageWasLostIsFoundAfterTheNextSubscription() {
        TcpProxy proxy = proxy();
        TestClient deaf = through(proxy);
        Grant held = holder.grant(name);
        TestClient.Place place = queued(deaf);

        proxy.cut();
        holder.release(held);
        assertThat(redis.exists(keys(name).lock())).isTrue();
        assertThat(place.heard().calls).isZero();
        proxy.resetConnections();
        proxy.heal();

        pushed(place);
    }

    @Test
    void aGrantWhoseMessageWasLostIsDeliveredByTheNextHeartbeat() {
        command("ACL", "SETUSER", "deaf", "on", ">secret", "~*", "&*", "+@all", "-subscribe");
        TestClient deaf = client("redis://deaf:secret@127.0.0.1:" + server.port());
        Grant held = holder.grant(name);
        TestClient.Place place = deaf.enqueue(name);
        // Somebody else hears its messages, so the server takes it for a listener.
        List<String> heardElsewhere = eavesdrop("holdfast:client:" + deaf.id());

        holder.release(held);
        await().until(() -> !heardElsewhere.isEmpty());
        assertThat(holder.attempt(name)).isInstanceOf(Answer.Refused.class);
        assertThat(place.heard().calls).isZero();

        assertThat(deaf.renew(place.ticket())).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(pushed(place).token()).isGreaterThan(held.token());
        assertThat(deaf.release(pushed(place))).isEqualTo(ReleaseAnswer.RELEASED);
    }

    private List<String> eavesdrop(String channel) {
        List<String> messages = new CopyOnWriteArrayList<>();
        JedisPubSub listener = new JedisPubSub() {
            @Override
            public void onMessage(String on, String message) {
                messages.add(message);
            }
        };
        Thread thread = new Thread(() -> redis.subscribe(listener, channel), "eavesdropper");
        thread.setDaemon(true);
        thread.start();
        closing(listener, JedisPubSub::unsubscribe);
        await().until(listener::isSubscribed);
        return messages;
    }

    @Test
    void aHalfOpenWaiterStallsTheLineNoLongerThanItsTicketLasts() {
        TcpProxy proxy = proxy();
        TestClient cutOff = through(proxy);
        Grant held = holder.grant(name);
        queued(cutOff, Duration.ofMillis(1500));
        queued(cutOff, Duration.ofMillis(1500));
        queued(cutOff, Duration.ofMillis(1500));
        TestClient.Place behind = queued(other);

        proxy.cut();
        holder.release(held);

        // Three dead waiters in a row: one ttl and a second, not three ttls; the rest is for a busy machine.
        assertThat(millisUntil(behind)).isLessThan(4000);
    }

    @Test
    void whenHolderAndFirstInLineDieTogetherAnotherStandsIn() {
        TestClient dying = client();
        Request brief = dying.request(name, Demand.exclusive(), Duration.ofMillis(1500));
        dying.grant(brief);
        queued(dying);
        TestClient.Place survivor = queued(other);

        dying.close();

        // Its own heartbeat would come after ten seconds.
        assertThat(millisUntil(survivor)).isLessThan(5000);
    }

    @Test
    void aLongTtlBehindAShortOneIsToldWhenItBecomesFirst() {
        Grant held = holder.grant(name);
        TestClient dying = client();
        TestClient.Place brief = queued(dying, Duration.ofMillis(1500));
        TestClient.Place patient = queued(other, Duration.ofMinutes(5));

        holder.release(held);
        pushed(brief);
        dying.close();

        assertThat(millisUntil(patient)).isLessThan(5000);
    }

    @Test
    void howeverManyDeadWaitersStandInFrontTheNextAliveWatchesTheHolder() {
        holder.grant(holder.request(name, Demand.exclusive(), Duration.ofSeconds(6)));
        TestClient dead = queuedInFront(20);
        TestClient.Place survivor = queued(other);
        die(dead);

        assertThat(other.renew(survivor.ticket())).isInstanceOf(RenewalAnswer.Extended.class);

        // Its next heartbeat would come after ten seconds.
        assertThat(millisUntil(survivor)).isLessThan(9000);
    }

    @Test
    void whoJoinsBehindDeadWaitersWatchesTheHolderToo() {
        holder.grant(holder.request(name, Demand.exclusive(), Duration.ofSeconds(3)));
        die(queuedInFront(8));

        assertThat(millisUntil(queued(other))).isLessThan(6000);
    }

    @Test
    void whoJoinsBehindLapsedTicketsWatchesTheHolderToo() {
        holder.grant(holder.request(name, Demand.exclusive(), Duration.ofSeconds(3)));
        TestClient quiet = client();
        for (int i = 0; i < 8; i++) {
            queued(quiet, Duration.ofMillis(300));
        }
        await().until(() -> holder.store.view(name, holder.soon()).waiters().isEmpty());

        assertThat(millisUntil(queued(other))).isLessThan(6000);
    }

    @Test
    void aLongTtlBehindDeadWaitersIsToldOfAHolderWithAShortOne() {
        Grant held = holder.grant(name);
        TestClient dying = client();
        TestClient.Place brief = queued(dying, Duration.ofMillis(2500));
        TestClient dead = queuedInFront(8);
        TestClient.Place patient = queued(other, Duration.ofMinutes(5));
        die(dead);

        assertThat(dying.renew(brief.ticket())).isInstanceOf(RenewalAnswer.Extended.class);
        holder.release(held);
        pushed(brief);
        dying.close();

        assertThat(millisUntil(patient)).isLessThan(6000);
    }

    private TestClient queuedInFront(int tickets) {
        TestClient client = client();
        for (int i = 0; i < tickets; i++) {
            queued(client);
        }
        return client;
    }

    private void die(TestClient client) {
        client.close();
        await().until(() -> channelIsGone(client));
    }

    @Test
    void aGrantForAWaiterWhoGaveUpIsReleasedAtOnce() {
        TcpProxy proxy = proxy();
        TestClient hasty = through(proxy);
        // Leaves a connection behind that the one look at the server's settings (a long reply) does not need any more:
        // one that is opened without replies is not one on which anything was sent.
        hasty.release(hasty.grant(name()));
        await().until(() -> proxy.bytes(Direction.TO_CLIENT) > 1000);
        hasty.release(hasty.grant(name()));
        Grant held = holder.grant(name);
        // Listens: one that does not would ask before it queues.
        hasty.withdraw(queued(hasty).request());

        proxy.dropReplies();
        Request lost = hasty.request(name);
        assertThatThrownBy(
                        () -> hasty.store.enqueue(lost, new TestClient.Heard(), hasty.within(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        proxy.heal();
        hasty.enqueue(holder.grant(name()).request().name());
        awaitSubscription(hasty);
        TestClient.Place next = queued(other);
        assertThat(holder.store.view(name, holder.soon()).waiters()).hasSize(2);
        holder.release(held);

        assertThat(millisUntil(next)).isLessThan(10_000);
    }

    @Test
    void aMessageThatComesAfterItsGrantWasDeliveredOtherwiseDoesNoHarm() {
        Grant held = holder.grant(name);
        TestClient.Place place = queued(other);
        holder.release(held);
        Grant grant = pushed(place);

        String message = "granted " + grant.request().owner() + " " + grant.token() + " "
                + keys(name).lock();
        redis.publish("holdfast:client:" + other.id(), message);
        redis.publish("holdfast:client:" + other.id(), message);
        // Messages of one channel come in order: once this one is heard, those before it have been dealt with.
        TestClient.Place marker = awaitMarker();

        assertThat(marker.heard().isGranted()).isTrue();
        assertThat(other.renew(grant)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(place.heard().calls).isEqualTo(1);
    }

    @Test
    void anOlderAnswerThatItStillWaitsDoesNotTakeAGrantAway() {
        holder.grant(name);
        TestClient.Place place = queued(other);

        // The message overtakes the answer to a heartbeat: seen from here, as if it came before the heartbeat was sent.
        String message =
                "granted " + place.request().owner() + " 1 " + keys(name).lock();
        redis.publish("holdfast:client:" + other.id(), message);
        pushed(place);

        assertThat(other.renew(place.ticket())).isInstanceOf(RenewalAnswer.Extended.class);
        other.withdraw(place.request());
        assertThat(other.renew(place.ticket())).isInstanceOf(RenewalAnswer.Gone.class);
    }

    private TestClient.Place awaitMarker() {
        String another = name();
        Grant held = holder.grant(another);
        TestClient.Place marker = other.enqueue(another);
        holder.release(held);
        pushed(marker);
        return marker;
    }

    @Test
    void aClientListensOnAfterAnErrorInWhatItHeard() {
        Grant held = holder.grant(name);
        String another = name();
        Grant heldToo = holder.grant(another);
        TestClient.Place place = queued(other);
        TicketListener errs = new TicketListener() {
            @Override
            public void granted(Grant grant) {
                throw new Error("as when no thread can be started");
            }

            @Override
            public void lost(String reason) {}
        };
        other.store.enqueue(other.request(another), errs, other.soon());

        holder.release(heldToo);
        holder.release(held);

        assertThat(pushed(place).token()).isGreaterThan(held.token());
    }

    @Test
    void nobodyHearsAnythingAfterWithdrawing() {
        Grant held = holder.grant(name);
        TestClient.Place place = queued(other);

        other.withdraw(place.request());
        holder.release(held);
        awaitMarker();

        assertThat(place.heard().calls).isZero();
        assertThat(redis.exists(keys(name).lock())).isFalse();
    }

    @Test
    void aForeignKeyIsWaitedOut() {
        redis.set(keys(name).lock(), "somebody", SetParams.setParams().px(1500));
        TestClient.Place place = other.enqueue(name);

        assertThat(place.isQueued()).isTrue();
        pushed(place);
    }

    @Test
    void aForeignKeyThatIsDeletedIsNoticedWithinAboutASecond() {
        redis.set(keys(name).lock(), "somebody");
        TestClient.Place place = queued(other);
        redis.del(keys(name).lock());

        assertThat(millisUntil(place)).isLessThan(5000);
    }

    @Test
    void aForeignKeyIsWatchedByTheFirstInLineWhoLives() {
        redis.set(keys(name).lock(), "somebody");
        TestClient dead = queuedInFront(1);
        TestClient.Place place = queued(other);
        die(dead);
        other.renew(place.ticket());

        redis.del(keys(name).lock());

        assertThat(millisUntil(place)).isLessThan(5000);
    }

    @Test
    void aPushedGrantReckonsFromTheLastAnsweredHeartbeatAndNotFromThePush() {
        Grant held = holder.grant(name);
        long beforeEnqueue = System.nanoTime();
        TestClient.Place place = queued(other);
        long afterEnqueue = System.nanoTime();
        holder.release(held);

        assertThat(pushed(place).baseNanos()).isBetween(beforeEnqueue, afterEnqueue);
    }

    @Test
    void theLinePassesThroughManyClientsInOrder() {
        Grant held = holder.grant(name);
        TestClient[] clients = {client(), client(), client(), client()};
        TestClient.Place[] places = new TestClient.Place[20];
        for (int i = 0; i < places.length; i++) {
            places[i] = queued(clients[i % clients.length]);
        }

        holder.release(held);

        long last = held.token();
        for (int i = 0; i < places.length; i++) {
            Grant grant = pushed(places[i]);
            assertThat(grant.token()).isGreaterThan(last);
            last = grant.token();
            clients[i % clients.length].release(grant);
        }
    }
}
