package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockException;
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
import java.util.Objects;
import java.util.UUID;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A key's move to a lease of its own, with its answer missing")
class LateMovesTest {

    private static EtcdServer server;

    private final String name = "lock-" + UUID.randomUUID();
    private Meddler meddler;
    private TestClient client;
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
    void holdALockWhoseMoveIsOnItsWay() {
        meddler = new Meddler(server.port());
        client = meddler.client();
        held = client.grant(name);
        meddler.holdsUp = Meddler::bindsAKey;
        assertThat(extend(Duration.ofSeconds(20), Duration.ofMillis(1500))).isInstanceOf(RenewalAnswer.Unsettled.class);
        meddler.holdsUp = txn -> false;
        assertThat(meddler.heldUp).hasSize(1);
    }

    @AfterEach
    void close() {
        client.close();
        meddler.close();
    }

    private RenewalAnswer extend(Duration ttl, Duration timeout) {
        return client.store
                .renew(List.of(new RenewalRequest(held, ttl)), Deadline.after(TimeSource.system(), timeout))
                .get(0);
    }

    private boolean arrives() {
        return meddler.deliver(meddler.heldUp.get(0));
    }

    @Test
    void isFollowedIfItWasMade() {
        assertThat(arrives()).isTrue();

        await().until(() -> client.renew(held), RenewalAnswer.Extended.class::isInstance);
        assertThat(client.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
    }

    @Test
    void doesNotUndoALaterOne() {
        assertThat(extend(Duration.ofSeconds(30), Duration.ofSeconds(5))).isInstanceOf(RenewalAnswer.Extended.class);

        assertThat(arrives()).isFalse();
        assertThat(client.renew(held)).isInstanceOf(RenewalAnswer.Extended.class);
    }

    @Test
    void p1IsNotMadeAnyMoreOnceTheLeaseItHasIsCountedOn() {
        assertThat(client.renew(held)).isInstanceOf(RenewalAnswer.Extended.class);

        assertThat(arrives()).isFalse();
    }

    @Test
    void p7DoesNotKeepALockTakenWhoseLeaseIsLost() {
        assertThat(arrives()).isTrue();
        Place place = (Place) Objects.requireNonNull(held.handle());

        new Etcdctl(server.endpoint())
                .run("lease", "revoke", Long.toHexString(place.session().lease()));

        await().until(() -> client.attempt(name), Answer.Granted.class::isInstance);
    }

    @Test
    void p7LeavesNoDoubtBehindOfALockThatIsGivenUpWhileItIsFollowed() {
        assertThat(arrives()).isTrue();
        Session before = ((Place) Objects.requireNonNull(held.handle())).session();
        meddler.keepAlives = kept -> {
            meddler.keepAlives = UnaryOperator.identity();
            meddler.holdsUp = txn -> true;
            assertThatThrownBy(() -> client.store.release(
                            held, Duration.ZERO, Deadline.after(TimeSource.system(), Duration.ofMillis(200))))
                    .isInstanceOf(LockException.class);
            meddler.holdsUp = txn -> false;
            assertThat(before.doubts()).hasSize(1);
            return kept;
        };

        client.renew(held);

        assertThat(before.doubts()).isEmpty();
        await().until(() -> client.attempt(name), Answer.Granted.class::isInstance);
    }
}
