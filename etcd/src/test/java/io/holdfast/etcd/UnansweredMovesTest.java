package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LossReason;
import io.holdfast.etcd.TestClient.Renewed;
import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.TxnRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A key that has moved to a lease of its own, while its client does not know yet")
class UnansweredMovesTest extends MeddledTest {

    private TestTicket held;
    private CompletableFuture<Renewed> extension;
    private String lease;

    @BeforeEach
    void holdALockWhoseMoveIsNotAnsweredYet() {
        held = client.grant(name);
        meddler.delaysAnswerTo = request -> request instanceof TxnRequest txn && Meddler.bindsAKey(txn);
        extension = CompletableFuture.supplyAsync(
                () -> client.extend(held, Duration.ofMinutes(1), TestClient.in(Duration.ofSeconds(20))));
        await().until(() -> meddler.underWay.size() == 1);
        lease = etcdctl.leases("holdfast/" + name + "/").get(0);
        await().until(() -> etcdctl.keys("holdfast/%session/").contains("holdfast/%session/" + lease));
        // Of its former lease and of this one.
        await().until(() -> meddler.watchIds.size() == 2);
    }

    @Test
    void p5IsLostWithThatLease() {
        etcdctl.run("lease", "revoke", lease);
        await().until(() -> meddler.told.stream()
                .flatMap(response -> response.getEventsList().stream())
                .anyMatch(event -> event.getType() == Event.EventType.DELETE));

        meddler.letGo();

        assertThat(extension.join()).isEqualTo(Renewed.GONE);
        assertThat(held.heardOfLoss()).isEqualTo(LossReason.GONE);
    }

    /** Nobody watches a ticket's own key, and a forced release may be told before the new lease is watched. */
    @Test
    void p5IsLookedAtOnceTheAnswerIsThere() {
        etcdctl.run("del", "--prefix", "holdfast/" + name + "/");

        meddler.letGo();

        assertThat(held.heardOfLoss()).isEqualTo(LossReason.GONE);
    }

    @Test
    void p5IsToldOfAForcedRelease() {
        assertThat(other.store.forceRelease(name, TestClient.soon())).isEqualTo(1);

        assertThat(held.heardOfLoss()).isEqualTo(LossReason.FORCED);
    }
}
