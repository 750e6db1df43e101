package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.etcd.internal.wire.LeaseKeepAliveRequest;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.ReleaseAnswer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Requests about one lock that overtake each other")
class OvertakingTest extends MeddledTest {

    private static final Duration LINGER = Duration.ofSeconds(4);

    private TestTicket held;

    @BeforeEach
    void holdALock() {
        held = client.grant(name);
    }

    private Renewed extend() {
        return client.extend(held, TestClient.TTL.multipliedBy(2), TestClient.soon());
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
    private CompletableFuture<Renewed> extensionUnderWay() {
        return underWay(request -> request instanceof TxnRequest txn && Meddler.bindsAKey(txn), this::extend);
    }

    private <T> T answered(CompletableFuture<T> call) {
        meddler.letGo();
        return call.orTimeout(20, TimeUnit.SECONDS).join();
    }

    private boolean triedByAnother() {
        return other.attempt(name);
    }

    @Test
    void aLockReleasedToLingerStaysThoughAnExtensionIsAnsweredLater() {
        CompletableFuture<Renewed> extension = extensionUnderWay();
        assertThat(client.release(held, LINGER, TestClient.soon())).isEqualTo(ReleaseAnswer.RELEASED);

        assertThat(answered(extension)).isEqualTo(Renewed.GONE);

        assertThat(triedByAnother()).isFalse();
        await().until(this::triedByAnother);
    }

    @Test
    void aLockToLingerStaysThoughAnExtensionIsAnsweredWhileItsReleaseIsOnItsWay() {
        CompletableFuture<Renewed> extension = extensionUnderWay();
        meddler.holdsUp = Meddler::bindsAKey;
        Deadline soon = TestClient.in(Duration.ofSeconds(1));
        CompletableFuture<ReleaseAnswer> release =
                CompletableFuture.supplyAsync(() -> client.release(held, LINGER, soon));
        await().until(() -> !meddler.heldUp.isEmpty());
        meddler.holdsUp = txn -> false;

        assertThat(answered(extension)).isEqualTo(Renewed.GONE);
        assertThatThrownBy(release::join).hasCauseInstanceOf(LockException.class);

        assertThat(triedByAnother()).isFalse();
        await().until(this::triedByAnother);
    }

    @Test
    void aLockReleasedToLingerStaysThoughItWasAboutToBeDeletedBecauseItHadRunOut() {
        TestTicket brief = client.grant(client.ticket(name + "-brief", Demand.exclusive(), Duration.ofSeconds(2)));
        meddler.holdsUp = Meddler::deletesAKey;
        await().until(() -> !meddler.heldUp.isEmpty());
        meddler.holdsUp = txn -> false;
        assertThat(client.release(brief, LINGER, TestClient.soon())).isEqualTo(ReleaseAnswer.RELEASED);

        assertThat(meddler.deliver(meddler.heldUp.get(0))).isFalse();

        assertThat(other.attempt(name + "-brief")).isFalse();
    }

    @Test
    void p1ALockStaysHeldThoughARenewalSeesItsMoveBeforeTheMoveIsAnswered() {
        CompletableFuture<Renewed> extension = extensionUnderWay();
        assertThat(client.renew(held)).isEqualTo(Renewed.FAILING);

        assertThat(answered(extension)).isEqualTo(Renewed.KEPT);

        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);
        assertThat(triedByAnother()).isFalse();
        assertThat(client.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
    }

    @Test
    void aLockStaysHeldThoughARenewalBegunBeforeItsMoveFindsItMoved() {
        CompletableFuture<Renewed> renewal =
                underWay(LeaseKeepAliveRequest.class::isInstance, () -> client.renew(held));
        assertThat(extend()).isEqualTo(Renewed.KEPT);

        assertThat(answered(renewal)).isEqualTo(Renewed.FAILING);

        assertThat(client.renew(held)).isEqualTo(Renewed.KEPT);
        assertThat(triedByAnother()).isFalse();
    }
}
