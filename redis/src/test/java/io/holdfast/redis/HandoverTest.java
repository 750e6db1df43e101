package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.redis.TestClient.TestTicket;
import io.holdfast.redis.TestClient.Told;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
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

    private TestTicket queued(TestClient client) {
        return queued(client, TestClient.TTL);
    }

    private TestTicket queued(TestClient client, Duration ttl) {
        TestTicket ticket = client.enqueue(client.ticket(name, Demand.exclusive(), ttl));
        assertThat(ticket.hasQueued()).isTrue();
        awaitSubscription(client);
        return ticket;
    }

    /** These clients send no heartbeats, so what is not told or looked for at the right moment never comes. */
    private TestTicket pushed(TestTicket ticket) {
        await().atMost(Duration.ofSeconds(30)).until(ticket::isGranted);
        return ticket;
    }

    private TcpProxy proxy() {
        return closing(TcpProxy.to(server.address()), TcpProxy::close);
    }

    private TestClient through(TcpProxy proxy) {
        return client("redis://127.0.0.1:" + proxy.port());
    }

    @Test
    void aKilledWaiterIsPassedOverAtOnce() {
        TestTicket held = holder.grant(name);
        TestClient dead = client();
        queued(dead);
        TestTicket next = queued(other);
        die(dead);

        holder.release(held);

        pushed(next);
    }

    private boolean channelIsGone(TestClient client) {
        return redis.publish("holdfast:client:" + client.id(), "nobody 0-0 0 none") == 0;
    }

    @Test
    void aLiveWaiterWhoseSubscriptionBlinkedIsPassedOverButKeepsItsPlace() {
        TcpProxy proxy = proxy();
        TestClient blinking = through(proxy);
        TestTicket held = holder.grant(name);
        TestTicket first = queued(blinking);
        TestTicket second = queued(other);

        proxy.refuseConnections();
        proxy.resetConnections();
        await().until(() -> channelIsGone(blinking));
        holder.release(held);
        TestTicket passed = pushed(second);
        assertThat(first.news()).isZero();
        TestTicket third = queued(holder);
        proxy.heal();
        // Moved aside until its client, which listens again, has said a word.
        await().until(() -> redis.zcount(keys(name).queue(), "(0", "+inf") == 2);
        other.release(passed);

        pushed(first);
        assertThat(third.news()).isZero();
    }

    @Test
    void aGrantWhoseMessageWasLostIsFoundAfterTheNextSubscription() {
        TcpProxy proxy = proxy();
        TestClient deaf = through(proxy);
        TestTicket held = holder.grant(name);
        TestTicket ticket = queued(deaf);

        proxy.cut();
        holder.release(held);
        assertThat(redis.exists(keys(name).lock())).isTrue();
        assertThat(ticket.news()).isZero();
        proxy.resetConnections();
        proxy.heal();

        pushed(ticket);
    }

    @Test
    void aGrantWhoseMessageWasLostIsDeliveredByTheNextHeartbeat() {
        command("ACL", "SETUSER", "deaf", "on", ">secret", "~*", "&*", "+@all", "-subscribe");
        TestClient deaf = client("redis://deaf:secret@127.0.0.1:" + server.port());
        TestTicket held = holder.grant(name);
        TestTicket ticket = deaf.enqueue(name);
        // Somebody else hears its messages, so the server takes it for a listener.
        List<String> heardElsewhere = eavesdrop("holdfast:client:" + deaf.id());

        holder.release(held);
        await().until(() -> !heardElsewhere.isEmpty());
        assertThat(holder.attempt(name)).isPresent();
        assertThat(ticket.news()).isZero();

        assertThat(deaf.renew(ticket)).isEqualTo(Told.KEPT);
        assertThat(pushed(ticket).token()).isGreaterThan(held.token());
        assertThat(deaf.release(pushed(ticket))).isEqualTo(ReleaseAnswer.RELEASED);
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
    void aTicketOfTheSameClientIsLetInByTheReplyToTheRelease() {
        TestTicket held = holder.grant(name);
        TestTicket next = queued(holder);
        long published = calls("publish");

        holder.release(held);

        assertThat(next.isGranted()).isTrue();
        assertThat(next.token()).isGreaterThan(held.token());
        assertThat(calls("publish")).isEqualTo(published);
    }

    @Test
    void aGrantInAReplyThatWasLostIsFoundByWhoeverReleasesAgain() {
        TcpProxy proxy = proxy();
        TestClient unlucky = through(proxy);
        TestTicket held = unlucky.grant(name);
        TestTicket next = queued(unlucky);

        proxy.swallow(Direction.TO_CLIENT);
        assertThatThrownBy(() -> unlucky.release(held, Duration.ZERO, unlucky.within(Duration.ofMillis(300))))
                .isInstanceOf(UnknownOutcomeException.class);
        assertThat(next.news()).isZero();
        proxy.heal();
        assertThat(unlucky.release(held)).isEqualTo(ReleaseAnswer.NOT_HELD);

        await().atMost(Duration.ofSeconds(4)).until(next::isGranted);
    }

    @Test
    void aHalfOpenWaiterStallsTheQueueNoLongerThanItsTicketLasts() {
        TcpProxy proxy = proxy();
        TestClient cutOff = through(proxy);
        TestTicket held = holder.grant(name);
        for (int i = 0; i < 12; i++) {
            queued(cutOff, Duration.ofSeconds(4));
        }
        TestTicket behind = queued(other);

        proxy.cut();
        holder.release(held);

        // Twelve dead waiters in a row: one ttl, not twelve, which would be longer than we wait for it.
        pushed(behind);
    }

    @Test
    void whenHolderAndFirstInTheQueueDieTogetherAnotherStandsIn() {
        TestClient dying = client();
        // Long enough for all to be in the queue before it is over, on a busy machine too.
        TestTicket brief = dying.ticket(name, Demand.exclusive(), Duration.ofSeconds(8));
        dying.grant(brief);
        queued(dying);
        TestTicket survivor = queued(other);

        dying.close();

        pushed(survivor);
    }

    @Test
    void aLongTtlBehindAShortOneIsToldWhenItBecomesFirst() {
        TestTicket held = holder.grant(name);
        TestClient dying = client();
        TestTicket brief = queued(dying, Duration.ofSeconds(5));
        TestTicket patient = queued(other, Duration.ofMinutes(5));

        holder.release(held);
        pushed(brief);
        dying.close();

        pushed(patient);
    }

    @Test
    void howeverManyDeadWaitersStandInFrontTheNextAliveWatchesTheHolder() {
        holder.grant(holder.ticket(name, Demand.exclusive(), Duration.ofSeconds(8)));
        TestClient dead = queuedInFront(20);
        TestTicket survivor = queued(other);
        die(dead);

        assertThat(other.renew(survivor)).isEqualTo(Told.KEPT);

        pushed(survivor);
    }

    @Test
    void whoJoinsBehindDeadWaitersWatchesTheHolderToo() {
        holder.grant(holder.ticket(name, Demand.exclusive(), Duration.ofSeconds(8)));
        die(queuedInFront(8));

        pushed(queued(other));
    }

    @Test
    void whoJoinsBehindLapsedTicketsWatchesTheHolderToo() {
        holder.grant(holder.ticket(name, Demand.exclusive(), Duration.ofSeconds(8)));
        TestClient quiet = client();
        for (int i = 0; i < 8; i++) {
            queued(quiet, Duration.ofMillis(300));
        }
        await().until(() -> holder.store.view(name, holder.soon()).waiters().isEmpty());

        pushed(queued(other));
    }

    @Test
    void aLongTtlBehindDeadWaitersIsToldOfAHolderWithAShortOne() {
        TestTicket held = holder.grant(name);
        TestClient dying = client();
        TestTicket brief = queued(dying, Duration.ofSeconds(8));
        TestClient dead = queuedInFront(8);
        TestTicket patient = queued(other, Duration.ofMinutes(5));
        die(dead);

        assertThat(dying.renew(brief)).isEqualTo(Told.KEPT);
        holder.release(held);
        pushed(brief);
        dying.close();

        pushed(patient);
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
        TestTicket held = holder.grant(name);
        // Listens: one that does not would ask before it queues.
        hasty.withdraw(queued(hasty));

        proxy.dropReplies();
        TestTicket lost = hasty.ticket(name);
        assertThatThrownBy(() -> hasty.enqueue(lost, hasty.within(Duration.ofMillis(500))))
                .isInstanceOf(UnknownOutcomeException.class);
        proxy.heal();
        hasty.enqueue(holder.grant(name()).ticket().name());
        awaitSubscription(hasty);
        TestTicket next = queued(other);
        assertThat(holder.store.view(name, holder.soon()).waiters()).hasSize(2);
        holder.release(held);

        pushed(next);
    }

    @Test
    void aMessageThatComesAfterItsGrantWasDeliveredOtherwiseDoesNoHarm() {
        TestTicket held = holder.grant(name);
        TestTicket ticket = queued(other);
        holder.release(held);
        TestTicket grant = pushed(ticket);

        String message = "granted " + grant.owner() + " " + grant.token() + " "
                + keys(name).lock();
        redis.publish("holdfast:client:" + other.id(), message);
        redis.publish("holdfast:client:" + other.id(), message);
        // Messages of one channel come in order: once this one is heard, those before it have been dealt with.
        TestTicket marker = awaitMarker();

        assertThat(marker.isGranted()).isTrue();
        assertThat(other.renew(grant)).isEqualTo(Told.KEPT);
        assertThat(ticket.news()).isEqualTo(1);
    }

    @Test
    void anOlderAnswerThatItStillWaitsDoesNotTakeAGrantAway() {
        TestTicket held = holder.grant(name);
        TestTicket ticket = queued(other);
        TcpProxy proxy = proxy();
        TestClient slow = through(proxy);
        slow.release(slow.grant(name()));
        proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(2500));
        long before = calls("evalsha");
        // The same ticket, by a way on which answers take long: the message overtakes the answer to this heartbeat.
        CompletableFuture<Void> heartbeat =
                CompletableFuture.runAsync(() -> slow.store.renew(List.of(ticket.ticket()), slow.soon()));
        await().until(() -> calls("evalsha") > before);

        holder.release(held);
        pushed(ticket);
        assertThat(heartbeat).isNotDone();

        heartbeat.join();
        assertThat(ticket.ticket().isValid()).isTrue();
        assertThat(ticket.news()).isEqualTo(1);
        assertThat(other.renew(ticket)).isEqualTo(Told.KEPT);
    }

    private TestTicket awaitMarker() {
        String another = name();
        TestTicket held = holder.grant(another);
        TestTicket marker = other.enqueue(another);
        holder.release(held);
        pushed(marker);
        return marker;
    }

    @Test
    void aClientListensOnAfterAnErrorInWhatItHeard() {
        TestTicket held = holder.grant(name);
        String another = name();
        TestTicket heldToo = holder.grant(another);
        TestTicket ticket = queued(other);
        Ticket.Listener errs = new Ticket.Listener() {
            @Override
            public void granted() {
                throw new Error("as when no thread can be started");
            }
        };
        other.store.request(other.ticket(another, errs), Mode.QUEUE, other.soon());

        holder.release(heldToo);
        holder.release(held);

        assertThat(pushed(ticket).token()).isGreaterThan(held.token());
    }

    @Test
    void nobodyHearsAnythingAfterWithdrawing() {
        TestTicket held = holder.grant(name);
        TestTicket ticket = queued(other);

        other.withdraw(ticket);
        holder.release(held);
        awaitMarker();

        assertThat(ticket.news()).isZero();
        assertThat(redis.exists(keys(name).lock())).isFalse();
    }

    @Test
    void aForeignKeyIsWaitedOut() {
        redis.set(keys(name).lock(), "somebody", SetParams.setParams().px(1500));
        TestTicket ticket = other.enqueue(name);

        assertThat(ticket.hasQueued()).isTrue();
        pushed(ticket);
    }

    @Test
    void aForeignKeyThatIsDeletedIsNoticed() {
        redis.set(keys(name).lock(), "somebody");
        TestTicket ticket = queued(other);
        redis.del(keys(name).lock());

        pushed(ticket);
    }

    @Test
    void aForeignKeyIsWatchedByTheFirstInTheQueueWhoLives() {
        redis.set(keys(name).lock(), "somebody");
        TestClient dead = queuedInFront(1);
        TestTicket ticket = queued(other);
        die(dead);
        other.renew(ticket);

        redis.del(keys(name).lock());

        pushed(ticket);
    }

    @Test
    void aPushedGrantReckonsFromTheLastAnsweredHeartbeatAndNotFromThePush() {
        TestTicket held = holder.grant(name);
        long beforeEnqueue = System.nanoTime();
        TestTicket ticket = queued(other);
        long afterEnqueue = System.nanoTime();
        holder.release(held);

        assertThat(pushed(ticket).ticket().baseNanos()).isBetween(beforeEnqueue, afterEnqueue);
    }

    @Test
    void theLockPassesThroughManyClientsInOrder() {
        TestTicket held = holder.grant(name);
        TestClient[] clients = {client(), client(), client(), client()};
        TestTicket[] tickets = new TestTicket[20];
        for (int i = 0; i < tickets.length; i++) {
            tickets[i] = queued(clients[i % clients.length]);
        }

        holder.release(held);

        long last = held.token();
        for (int i = 0; i < tickets.length; i++) {
            TestTicket grant = pushed(tickets[i]);
            assertThat(grant.token()).isGreaterThan(last);
            last = grant.token();
            clients[i % clients.length].release(grant);
        }
    }
}
