package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.redis.TestClient.TestTicket;
import io.holdfast.spi.Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The first wait of a client, which does not listen yet")
class FirstWaitTest extends RedisTest {

    private String name;
    private TestClient holder;
    private TestClient other;
    private TcpProxy proxy;
    private TestClient fresh;

    @BeforeEach
    void connect() {
        name = name();
        holder = client();
        other = listening();
        proxy = proxy();
        fresh = freshThrough(proxy);
    }

    private TcpProxy proxy() {
        return closing(TcpProxy.to(server.address()), TcpProxy::close);
    }

    private TestClient freshThrough(TcpProxy own) {
        TestClient client = client("redis://127.0.0.1:" + own.port());
        // Leaves a connection behind, and waits until the one look at the server's settings (a long reply) needs none
        // any more.
        client.release(client.grant(name()));
        await().until(() -> own.bytes(Direction.TO_CLIENT) > 1000);
        client.release(client.grant(name()));
        return client;
    }

    private TestClient listening() {
        TestClient client = client();
        String another = name();
        TestTicket held = holder.grant(another);
        TestTicket ticket = client.enqueue(another);
        awaitSubscription(client);
        client.withdraw(ticket);
        holder.release(held);
        return client;
    }

    private static TestTicket pushed(TestTicket ticket) {
        await().until(ticket::isGranted);
        return ticket;
    }

    private Optional<Refusal> answerWithin(Duration time) {
        return fresh.enqueue(fresh.ticket(name), fresh.within(time));
    }

    private long queued() {
        return redis.zcard(keys(name).queue());
    }

    @Test
    void isNotOvertakenWhileItsSubscriptionIsUnderWay() {
        TestTicket held = holder.grant(name);
        proxy.delay(Duration.ofMillis(50));
        TestTicket first = fresh.enqueue(name);
        TestTicket second = other.enqueue(name);

        holder.release(held);

        await().until(() -> first.isGranted() || second.isGranted());
        assertThat(second.news()).as("grants to the one behind").isZero();
        fresh.release(pushed(first));
        assertThat(pushed(second).token()).isGreaterThan(first.token());
    }

    @Test
    void doesNotStandInTheQueueBeforeItCanBeCalled() throws Exception {
        TestTicket held = holder.grant(name);
        proxy.refuseConnections();
        waitsUnheardOutsideTheQueueAndIsServedFirst(held);
    }

    private void waitsUnheardOutsideTheQueueAndIsServedFirst(TestTicket held) throws Exception {
        long before = calls("evalsha");
        CompletableFuture<TestTicket> first = CompletableFuture.supplyAsync(() -> fresh.enqueue(name));
        await().until(() -> calls("evalsha") > before);
        assertThat(queued()).isZero();

        proxy.heal();

        assertThat(first.get(20, TimeUnit.SECONDS).hasQueued()).isTrue();
        TestTicket second = other.enqueue(name);
        // If the next try to subscribe came late, it queued unheard after all.
        awaitSubscription(fresh);
        holder.release(held);
        pushed(first.join());
        assertThat(second.news()).isZero();
    }

    @Test
    void norDoesOneWhoseSubscriptionJustBroke() throws Exception {
        TestTicket held = holder.grant(name);
        fresh.withdraw(fresh.enqueue(name));
        awaitSubscription(fresh);
        int open = proxy.openConnections();
        proxy.refuseConnections();
        command("CLIENT", "KILL", "TYPE", "pubsub");
        // Closed on its side too: it has noticed.
        await().until(() -> proxy.openConnections() < open);
        awaitSubscription(other);
        waitsUnheardOutsideTheQueueAndIsServedFirst(held);
    }

    @Test
    void thatCannotListenQueuesAllTheSameAndIsGranted() {
        TestTicket held = holder.grant(name);
        proxy.refuseConnections();

        TestTicket deaf = fresh.enqueue(name);

        assertThat(deaf.hasQueued()).isTrue();
        assertThat(queued()).isEqualTo(1);
        holder.release(held);
        fresh.renew(deaf);
        assertThat(pushed(deaf).token()).isGreaterThan(held.token());
    }

    @Test
    @Tag("alone")
    void thatCannotListenLeavesTimeToQueueBeforeItsDeadline() {
        holder.grant(name);
        proxy.refuseConnections();

        // Less than it would wait for a subscription if it had all the time.
        assertThat(answerWithin(Duration.ofMillis(950))).isEmpty();
    }

    @Test
    @Tag("alone")
    void doesNotMissItsDeadlineWhereAnswersTakeLong() {
        holder.grant(name);
        proxy.delay(Duration.ofMillis(600));

        // Asking takes 1.2 s and queueing 1.2 s more: no time to wait for a subscription for a second in between.
        assertThat(answerWithin(Duration.ofMillis(3300))).isEmpty();
    }

    @Test
    @Tag("alone")
    void isRefusedIfThereIsTimeToAskButNotToQueue() {
        holder.grant(name);
        proxy.delay(Duration.ofMillis(600));

        assertThat(answerWithin(Duration.ofMillis(2000))).isPresent();
    }

    @Test
    void thatCannotListenIsNotPaidForByEveryWaitAfterIt() {
        holder.grant(name);
        proxy.refuseConnections();
        fresh.enqueue(name);
        long start = System.nanoTime();

        for (int i = 0; i < 10; i++) {
            assertThat(fresh.enqueue(name).hasQueued()).isTrue();
        }

        // A second each if every one of them waited.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void costsOneCommandMoreThanTheNext() {
        // Who holds a lock for a while subscribes too, so it has done that before subscriptions are counted.
        holder.grant(name());
        await().until(() -> !((List<?>) command("PUBSUB", "CHANNELS", "*" + holder.id() + "*")).isEmpty());
        List<Long> firsts = new ArrayList<>();
        List<Long> nexts = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            TestClient client = freshThrough(proxy());
            String lock = name();
            TestTicket held = holder.grant(lock);
            long subscriptions = calls("subscribe");
            long before = calls("evalsha");
            client.enqueue(lock);
            long between = calls("evalsha");
            client.enqueue(lock);
            long after = calls("evalsha");
            firsts.add(between - before);
            nexts.add(after - between);
            assertThat(calls("subscribe") - subscriptions).isEqualTo(1);
            holder.release(held);
        }

        // A listener that is slow to look whether it missed something finds the ticket queued meanwhile and asks about
        // it: the least of several is what it costs.
        assertThat(Collections.min(firsts)).isEqualTo(2);
        assertThat(Collections.min(nexts)).isEqualTo(1);
    }

    @Test
    void ofAFreeLockCostsOneCommandAndNoSubscription() {
        long scripts = calls("evalsha");
        long subscriptions = calls("subscribe");

        assertThat(fresh.enqueue(name).isGranted()).isTrue();

        assertThat(calls("evalsha") - scripts).isEqualTo(1);
        assertThat(calls("subscribe") - subscriptions).isZero();
    }
}
