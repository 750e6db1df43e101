package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.ReleaseResult;
import io.holdfast.Renewal;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveRequest;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveResponse;
import io.holdfast.servers.EtcdServer;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A sweep that has listed a key which then moves to another lease")
class SweepTest {

    /** Sweeps are a third of it apart. */
    private static final Duration TTL = Duration.ofSeconds(6);

    /** Long enough for a sweep to delete what it takes for an orphan, and for another to get the lock. */
    private static final Duration A_WHILE = Duration.ofSeconds(1);

    private static EtcdServer server;

    private final String name = "lock-" + UUID.randomUUID();
    private Meddler meddler;
    private Holdfast holder;
    private Holdfast other;

    @BeforeAll
    static void startServer() {
        server = EtcdServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void connect() {
        meddler = new Meddler(server.port());
        holder = Holdfast.builder().store(meddler.store()).connect();
        other = Holdfast.connect("etcd://127.0.0.1:" + server.port());
    }

    @AfterEach
    void close() {
        meddler.letGo();
        holder.close();
        other.close();
        meddler.close();
    }

    private DistributedLock lock(LockOptions options) {
        return holder.lock(name, options.withTtl(TTL));
    }

    /** Returns when a sweep has listed the lock's key at the server, and does not know it yet. */
    private void awaitListingUnderWay() {
        meddler.delaysAnswerTo = LeaseTimeToLiveRequest.class::isInstance;
        await().until(() -> meddler.underWay.stream().anyMatch(this::listsTheKey));
    }

    private boolean listsTheKey(Object answer) {
        return answer instanceof LeaseTimeToLiveResponse listing
                && listing.getKeysList().stream().map(ByteString::toStringUtf8).anyMatch(key -> key.contains(name));
    }

    private Optional<Lease> triedByAnother() throws InterruptedException {
        return other.lock(name, LockOptions.defaults().withTtl(TTL)).tryAcquire(A_WHILE);
    }

    @ParameterizedTest
    @EnumSource(Renewal.class)
    void p1LeavesALockAloneThatIsExtendedBeyondItsTtl(Renewal renewal) throws Exception {
        try (Lease lease =
                lock(LockOptions.defaults().withRenewal(renewal)).tryAcquire().orElseThrow()) {
            awaitListingUnderWay();
            lease.extend(TTL.multipliedBy(3));
            meddler.letGo();

            assertThat(triedByAnother()).isEmpty();
            lease.requireValid();
            assertThat(lease.release()).isEqualTo(ReleaseResult.RELEASED);
        }
    }

    @Test
    void leavesALockAloneThatIsReleasedAndStaysForItsMinHold() throws Exception {
        long before = System.nanoTime();
        Lease lease = lock(LockOptions.defaults().withMinHold(TTL)).tryAcquire().orElseThrow();
        awaitListingUnderWay();
        assertThat(lease.release()).isEqualTo(ReleaseResult.RELEASED);
        meddler.letGo();

        assertThat(triedByAnother()).isEmpty();
        other.lock(name).acquire().close();
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isGreaterThan(TTL);
    }
}
