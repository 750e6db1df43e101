package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
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
        Grant held = holder.grant(another);
        TestClient.Place place = client.enqueue(another);
        awaitSubscription(client);
        client.withdraw(place.request());
        holder.release(held);
        return client;
    }

    private static Grant pushed(TestClient.Place place) {
        await().until(place.heard()::isGranted);
        return Objects.requireNonNull(place.heard().grant);
    }

    private Answer answerWithin(Duration time) {
        return fresh.store.enqueue(fresh.request(name), new TestClient.Heard(), fresh.within(time));
    }

    private long inLine() {
        return redis.zcard(keys(name).queue());
    }

    @Test
    void isNotOvertakenWhileItsSubscriptionIsUnderWay() {
        Grant held = holder.grant(name);
        proxy.delay(Duration.ofMillis(50));
        TestClient.Place first = fresh.enqueue(name);
        TestClient.Place second = other.enqueue(name);

        holder.release(held);

        await().until(() -> first.heard().isGranted() || second.heard().isGranted());
        assertThat(second.heard().calls).as("grants to the one behind").isZero();
        fresh.release(pushed(first));
        assertThat(pushed(second).token())
                .isGreaterThan(Objects.requireNonNull(first.heard().grant).token());
    }

    @Test
    void doesNotStandInLineBeforeItCanBeCalled() throws Exception {
        Grant held = holder.grant(name);
        proxy.refuseConnections();
        waitsUnheardOutsideTheLineAndIsServedFirst(held);
    }

    private void waitsUnheardOutsideTheLineAndIsServedFirst(Grant held) throws Exception {
        long before = calls("evalsha");
        CompletableFuture<TestClient.Place> first = CompletableFuture.supplyAsync(() -> fresh.enqueue(name));
        await().until(() -> calls("evalsha") > before);
        assertThat(inLine()).isZero();

        proxy.heal();

        assertThat(first.get(20, TimeUnit.SECONDS).isQueued()).isTrue();
        TestClient.Place second = other.enqueue(name);
        // If the next try to subscribe came late, it queued unheard after all.
        awaitSubscription(fresh);
        holder.release(held);
        pushed(first.join());
        assertThat(second.heard().calls).isZero();
    }

    @Test
    void norDoesOneWhoseSubscriptionJustBroke() throws Exception {
        Grant held = holder.grant(name);
        fresh.withdraw(fresh.enqueue(name).request());
        awaitSubscription(fresh);
        int open = proxy.openConnections();
        proxy.refuseConnections();
        command("CLIENT", "KILL", "TYPE", "pubsub");
        // Closed on its side too: it has noticed.
        await().until(() -> proxy.openConnections() < open);
        awaitSubscription(other);
        waitsUnheardOutsideTheLineAndIsServedFirst(held);
    }

    @Test
    void thatCannotListenQueuesAllTheSameAndIsGranted() {
        Grant held = holder.grant(name);
        proxy.refuseConnections();

        TestClient.Place deaf = fresh.enqueue(name);

        assertThat(deaf.isQueued()).isTrue();
        assertThat(inLine()).isEqualTo(1);
        holder.release(held);
        fresh.renew(deaf.ticket());
        assertThat(pushed(deaf).token()).isGreaterThan(held.token());
    }

    @Test
    void thatCannotListenLeavesTimeToQueueBeforeItsDeadline() {
        holder.grant(name);
        proxy.refuseConnections();

        // Less than it would wait for a subscription if it had all the time.
        assertThat(answerWithin(Duration.ofMillis(950))).isInstanceOf(Answer.Queued.class);
    }

    @Test
    void doesNotMissItsDeadlineWhereAnswersTakeLong() {
        holder.grant(name);
        proxy.delay(Duration.ofMillis(600));

        // Asking takes 1.2 s and queueing 1.2 s more: no time to wait for a subscription for a second in between.
        assertThat(answerWithin(Duration.ofMillis(3300))).isInstanceOf(Answer.Queued.class);
    }

    @Test
    void isRefusedIfThereIsTimeToAskButNotToQueue() {
        holder.grant(name);
        proxy.delay(Duration.ofMillis(600));

        assertThat(answerWithin(Duration.ofMillis(2000))).isInstanceOf(Answer.Refused.class);
    }

    @Test
    void thatCannotListenIsNotPaidForByEveryWaitAfterIt() {
        holder.grant(name);
        proxy.refuseConnections();
        fresh.enqueue(name);
        long start = System.nanoTime();

        for (int i = 0; i < 10; i++) {
            assertThat(fresh.enqueue(name).isQueued()).isTrue();
        }

        // A second each if every one of them waited.
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
    }

    @Test
    void costsOneCommandMoreThanTheNext() {
        List<Long> firsts = new ArrayList<>();
        List<Long> nexts = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            TestClient client = freshThrough(proxy());
            String lock = name();
            Grant held = holder.grant(lock);
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

        assertThat(fresh.enqueue(name).answer()).isInstanceOf(Answer.Granted.class);

        assertThat(calls("evalsha") - scripts).isEqualTo(1);
        assertThat(calls("subscribe") - subscriptions).isZero();
    }
}
