package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.ClientClosedException;
import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LockView.Holder;
import io.holdfast.ManualTime;
import io.holdfast.ReleaseResult;
import io.holdfast.StoreUnavailableException;
import io.holdfast.memory.MemoryStore;
import io.holdfast.quorum.FaultyNode.Network;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Nodes of a quorum that do not answer")
@Timeout(60)
class UnansweredNodesTest {

    private static final LockOptions OPTIONS = LockOptions.defaults().withTtl(Duration.ofSeconds(3));

    private final String run = UUID.randomUUID().toString();
    private final ManualTime time = new ManualTime();
    private final List<FaultyNode> nodes = IntStream.range(0, 5)
            .mapToObj(number -> new FaultyNode(run + number))
            .toList();
    private final List<Holdfast> clients = new ArrayList<>();

    @AfterEach
    void close() {
        nodes.forEach(node -> node.network = Network.UP);
        clients.forEach(Holdfast::close);
    }

    private Holdfast client(StoreFactory store, TimeSource clock) {
        Holdfast client = Holdfast.builder()
                .store(store)
                .time(clock)
                .closeTimeout(Duration.ofSeconds(20))
                .connect();
        clients.add(client);
        return client;
    }

    private Holdfast quorum() {
        return client(QuorumStore.of(List.<StoreFactory>copyOf(nodes)).withNodeTimeout(Duration.ofSeconds(5)), time);
    }

    /** That node alone. */
    private Holdfast atNode(int number, TimeSource clock) {
        return client(MemoryStore.named(run + number), clock);
    }

    private boolean lingersAt(int node) {
        return atNode(node, time).lock("job").inspect().holders().stream().anyMatch(Holder::isLingering);
    }

    private void set(Network network, int... numbers) {
        for (int number : numbers) {
            nodes.get(number).network = network;
        }
    }

    /** Held by a majority of three: the other two never heard of it. */
    private Lease heldByThree() throws InterruptedException {
        Holdfast client = quorum();
        client.lock("warm-up", OPTIONS).acquire().release();
        set(Network.DOWN, 3, 4);
        Lease lease =
                client.lock("job", OPTIONS.withMinHold(Duration.ofSeconds(15))).acquire();
        set(Network.UP, 3, 4);
        return lease;
    }

    private void awaitAnotherReleaseAt(int node) {
        int before = nodes.get(node).releases.get();
        await().until(() -> {
            time.advance(Duration.ofMillis(20));
            return nodes.get(node).releases.get() > before;
        });
    }

    private void assertKeptForItsShortestTime() throws InterruptedException {
        Holdfast rival = quorum();
        for (int second = 0; second < 12; second++) {
            time.advance(Duration.ofSeconds(1));
            assertThat(rival.lock("job", OPTIONS).tryAcquire())
                    .as("after %d s", second + 1)
                    .isEmpty();
        }
        time.advance(Duration.ofSeconds(5));
        rival.lock("job", OPTIONS).tryAcquire().orElseThrow().release();
    }

    /** On a busy host classes are loaded, connections opened and threads woken late, in a client that has talked to its nodes too. */
    @Test
    void areWaitedForWhileAMajorityIsMissing() throws Exception {
        Holdfast client = client(QuorumStore.of(List.<StoreFactory>copyOf(nodes)), time);
        client.ping(Duration.ofSeconds(5));
        AtomicInteger asked = new AtomicInteger();
        CountDownLatch goOn = new CountDownLatch(1);
        nodes.forEach(node -> node.beforeRequest = () -> {
            asked.incrementAndGet();
            awaitQuietly(goOn);
        });
        CompletableFuture<Lease> first = client.lock("job", OPTIONS).acquireAsync();
        await().until(() -> asked.get() == nodes.size());

        // Forty times as long as a node usually has.
        AtomicInteger steps = new AtomicInteger();
        await().until(() -> {
            time.advance(Duration.ofMillis(100));
            return steps.incrementAndGet() == 8;
        });
        assertThat(first).isNotDone();
        goOn.countDown();

        assertThat(first.get(20, TimeUnit.SECONDS).isValid()).isTrue();
    }

    @Test
    void areNotWaitedForAgainUntilTheyAnswer() {
        Holdfast client = client(QuorumStore.of(List.<StoreFactory>copyOf(nodes)), time);
        set(Network.SILENT, 0, 1, 2);

        assertThat(timeToAnswerOfFailingTry(client)).isEqualTo(Duration.ofSeconds(1));
        assertThat(timeToAnswerOfFailingTry(client)).isEqualTo(Duration.ofMillis(20));
        client.ping(Duration.ofSeconds(5));
        assertThat(timeToAnswerOfFailingTry(client)).isEqualTo(Duration.ofSeconds(1));
    }

    private Duration timeToAnswerOfFailingTry(Holdfast client) {
        AtomicInteger asked = new AtomicInteger();
        nodes.forEach(node -> node.beforeRequest = asked::incrementAndGet);
        CompletableFuture<?> failing = client.lock("job-" + UUID.randomUUID(), OPTIONS)
                .acquireAsync()
                .handle((lease, failure) -> assertThat(failure).isInstanceOf(StoreUnavailableException.class));
        await().until(() -> asked.get() == nodes.size());
        Duration given = nodes.get(0).timeToAnswer;
        await().until(() -> {
            time.advance(Duration.ofMillis(100));
            return failing.isDone();
        });
        failing.join();
        return given;
    }

    @Test
    void releaseThatReachedAMinorityIsRepeatedUntilAMajorityLingers() throws Exception {
        Lease lease = heldByThree();
        set(Network.DOWN, 1, 2);

        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);
        assertThat(lingersAt(0)).isTrue();
        awaitAnotherReleaseAt(2);
        set(Network.UP, 1, 2);
        await().until(() -> {
            time.advance(Duration.ofMillis(20));
            return lingersAt(1) && lingersAt(2);
        });

        assertKeptForItsShortestTime();
    }

    @Test
    void releaseWhoseAnswerWasLostCountsAsDone() throws Exception {
        Lease lease = heldByThree();
        set(Network.ANSWERS_LOST, 1);
        set(Network.DOWN, 2);

        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);
        assertThat(lingersAt(1)).isTrue();
        set(Network.UP, 1);
        awaitAnotherReleaseAt(1); // it says now that it does not know the lease
        set(Network.UP, 2);
        await().until(() -> {
            time.advance(Duration.ofMillis(20));
            return lingersAt(2);
        });

        assertKeptForItsShortestTime();
    }

    @Test
    @DisplayName("P7 the release of an extended lease is repeated for as long as the extension lasts")
    void theReleaseOfAnExtendedLeaseIsRepeatedForAsLongAsTheExtensionLasts() throws Exception {
        Lease lease = quorum().lock("job", OPTIONS).acquire();
        lease.extend(Duration.ofHours(1));
        FaultyNode last = nodes.get(4);
        await().until(() -> last.extensions.get() == 1);
        set(Network.DOWN, 4);

        assertThat(lease.release()).isEqualTo(ReleaseResult.RELEASED);
        await().until(() -> last.withdrawals.get() > 0);
        for (int second = 0; second < 4; second++) {
            time.advance(Duration.ofSeconds(1));
        }
        set(Network.UP, 4);

        awaitFreeAt(4);
    }

    @Test
    @DisplayName("P9 nor is it asked for more and more often while the nodes are away")
    void norIsItAskedForMoreAndMoreOftenWhileTheNodesAreAway() throws Exception {
        Lease lease = quorum().lock("job", OPTIONS).acquire();
        lease.extend(Duration.ofHours(1));
        FaultyNode last = nodes.get(4);
        await().until(() -> last.extensions.get() == 1);
        set(Network.DOWN, 2, 3, 4);
        assertThat(lease.release()).isEqualTo(ReleaseResult.PENDING);

        int before = 0;
        for (int second = 0; second < 50; second++) {
            before = last.withdrawals.get();
            int seen = before;
            time.advance(Duration.ofSeconds(1));
            await().until(() -> last.withdrawals.get() > seen);
        }

        int inTheLastSecond = last.withdrawals.get() - before;

        set(Network.UP, 2, 3, 4);
        awaitFreeAt(4);
        // One for the pursuit that there is, one for that of each further release.
        assertThat(inTheLastSecond).isLessThan(10);
    }

    private void awaitFreeAt(int node) {
        DistributedLock there = atNode(node, time).lock("job");
        await().until(() -> {
            time.advance(Duration.ofMillis(200));
            return there.tryAcquire().isPresent();
        });
    }

    @Test
    void whatAFailedTryLeftIsRemovedByClose() throws Exception {
        List<Lease> rivals = new ArrayList<>();
        for (int node = 0; node < 3; node++) {
            rivals.add(atNode(node, time).lock("job").acquire());
        }
        Holdfast client = quorum();
        FaultyNode granting = nodes.get(4);
        granting.withdrawalsFail = true;

        assertThat(client.lock("job").tryAcquire()).isEmpty();
        await().until(() -> granting.withdrawals.get() == 2);
        granting.withdrawalsFail = false;
        client.close();

        assertThat(atNode(4, time).lock("job").inspect().holders()).isEmpty();
        rivals.forEach(Lease::release);
    }

    @Test
    void grantThatComesDuringCloseIsGivenBack() throws Exception {
        TimeSource clock = TimeSource.system();
        List<Lease> rivals = new ArrayList<>();
        for (int node = 0; node < 3; node++) {
            rivals.add(atNode(node, clock).lock("job").acquire());
        }
        Holdfast client =
                client(QuorumStore.of(List.<StoreFactory>copyOf(nodes)).withNodeTimeout(Duration.ofSeconds(2)), clock);
        client.lock("warm-up").acquire().release();
        CountDownLatch goOn = new CountDownLatch(1);
        nodes.get(4).beforeRequest = () -> awaitQuietly(goOn);

        assertThat(client.lock("job").tryAcquire()).isEmpty();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(client::close);
        await().pollInterval(Duration.ofMillis(5)).until(() -> isClosed(client));
        goOn.countDown();
        closing.join();

        assertThat(atNode(4, clock).lock("job").inspect().holders()).isEmpty();
        rivals.forEach(Lease::release);
    }

    private static boolean isClosed(Holdfast client) {
        try {
            client.lock("job");
            return false;
        } catch (ClientClosedException e) {
            return true;
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
