package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.etcd.internal.wire.LeaseKeepAliveRequest;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Requests about one lock that overtake each other")
class OvertakingTest {

    private static final Duration LINGER = Duration.ofSeconds(3);

    private static EtcdServer server;

    private final String name = "lock-" + UUID.randomUUID();
    private Meddler meddler;
    private TestClient client;
    private TestClient other;
    private Grant held;

    @BeforeAll
    static void startServer() {
        server = EtcdServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void holdALock() {
        meddler = new Meddler(server.port());
        client = meddler.client();
        other = TestClient.of("etcd://127.0.0.1:" + server.port());
        held = client.grant(name);
    }

    @AfterEach
    void close() {
        meddler.letGo();
        client.close();
        other.close();
        meddler.close();
    }

    private RenewalAnswer extend() {
        RenewalRequest longer = new RenewalRequest(held, TestClient.TTL.multipliedBy(2));
        return client.store.renew(List.of(longer), TestClient.soon()).get(0);
    }

    /** Returns when etcd has made such a request of the task, and the client does not know it yet. */
    private <T> CompletableFuture<T> underWay(Predicate<Object> which, Supplier<T> task) {
        // The client asks for its own purposes too, on other threads.
        String asking = "asking-" + name;
        meddler.delaysAnswerTo = request -> Thread.currentThread().getName().equals(asking) && which.test(request);
        CompletableFuture<T> result = CompletableFuture.supplyAsync(task, run -> new Thread(run, asking).start());
        await().until(() -> !meddler.underWay.isEmpty());
        meddler.delaysAnswerTo = none -> false;
        return result;
    }

    /** The key is on another lease. */
    private CompletableFuture<RenewalAnswer> extensionUnderWay() {
        return underWay(request -> request instanceof TxnRequest txn && Meddler.bindsAKey(txn), this::extend);
    }

    private <T> T answered(CompletableFuture<T> call) {
        meddler.letGo();
        return call.orTimeout(20, TimeUnit.SECONDS).join();
    }

    private Answer triedByAnother() {
        return other.attempt(name);
    }

    @Test
    void aLockReleasedToLingerStaysThoughAnExtensionIsAnsweredLater() {
        CompletableFuture<RenewalAnswer> extension = extensionUnderWay();
        assertThat(client.store.release(held, LINGER, TestClient.soon())).isEqualTo(ReleaseAnswer.RELEASED);

        assertThat(answered(extension)).isInstanceOf(RenewalAnswer.Gone.class);

        assertThat(triedByAnother()).isInstanceOf(Answer.Refused.class);
        await().until(this::triedByAnother, Answer.Granted.class::isInstance);
    }

    @Test
    void aLockToLingerStaysThoughAnExtensionIsAnsweredWhileItsReleaseIsOnItsWay() {
        CompletableFuture<RenewalAnswer> extension = extensionUnderWay();
        meddler.holdsUp = Meddler::bindsAKey;
        Deadline soon = Deadline.after(TimeSource.system(), Duration.ofMillis(500));
        CompletableFuture<ReleaseAnswer> release =
                CompletableFuture.supplyAsync(() -> client.store.release(held, LINGER, soon));
        await().until(() -> !meddler.heldUp.isEmpty());
        meddler.holdsUp = txn -> false;

        assertThat(answered(extension)).isInstanceOf(RenewalAnswer.Gone.class);
        assertThatThrownBy(release::join).hasCauseInstanceOf(LockException.class);

        assertThat(triedByAnother()).isInstanceOf(Answer.Refused.class);
        await().until(this::triedByAnother, Answer.Granted.class::isInstance);
    }

    @Test
    void aLockReleasedToLingerStaysThoughItWasAboutToBeDeletedBecauseItHadRunOut() {
        Grant brief = client.grant(client.request(name + "-brief", Demand.exclusive(), Duration.ofSeconds(2)));
        meddler.holdsUp = Meddler::deletesAKey;
        await().until(() -> !meddler.heldUp.isEmpty());
        meddler.holdsUp = txn -> false;
        assertThat(client.store.release(brief, LINGER, TestClient.soon())).isEqualTo(ReleaseAnswer.RELEASED);

        assertThat(meddler.deliver(meddler.heldUp.get(0))).isFalse();

        assertThat(other.attempt(name + "-brief")).isInstanceOf(Answer.Refused.class);
    }

    @Test
    void p1ALockStaysHeldThoughARenewalSeesItsMoveBeforeTheMoveIsAnswered() {
        CompletableFuture<RenewalAnswer> extension = extensionUnderWay();
        assertThat(client.renew(held)).isInstanceOf(RenewalAnswer.Unsettled.class);

        assertThat(answered(extension)).isInstanceOf(RenewalAnswer.Extended.class);

        assertThat(client.renew(held)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(triedByAnother()).isInstanceOf(Answer.Refused.class);
        assertThat(client.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
    }

    @Test
    void aLockStaysHeldThoughARenewalBegunBeforeItsMoveFindsItMoved() {
        CompletableFuture<RenewalAnswer> renewal =
                underWay(LeaseKeepAliveRequest.class::isInstance, () -> client.renew(held));
        assertThat(extend()).isInstanceOf(RenewalAnswer.Extended.class);

        assertThat(answered(renewal)).isInstanceOf(RenewalAnswer.Unsettled.class);

        assertThat(client.renew(held)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(triedByAnother()).isInstanceOf(Answer.Refused.class);
    }
}
