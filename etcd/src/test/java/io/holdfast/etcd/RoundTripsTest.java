package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.holdfast.Demand;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.Renewal;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.WatchRequest;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("What a lock in etcd costs, in calls")
class RoundTripsTest {

    /** Each session is kept alive and looked through every third of it: not while a test counts. */
    private static final Duration TTL = Duration.ofMinutes(5);

    /** Slots are drawn: who finds both of his taken by others in the queue draws again, and hardly ever more often than this. */
    private static final int MOST_REDRAWS = 5;

    private static EtcdServer server;

    private final String name = "lock-" + UUID.randomUUID();
    private final Counter ones = new Counter();
    private final Counter twos = new Counter();
    private final List<TestClient> clients = new ArrayList<>();
    private final List<Counter> counters = new ArrayList<>();
    private TestClient one;
    private TestClient two;

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
        one = connected(ones);
        two = connected(twos);
    }

    /** The first lock of a client also opens its session; what is counted is any lock after that. */
    private TestClient connected(Counter counter) {
        TestClient client = counter.client();
        clients.add(client);
        counters.add(counter);
        client.release(grant(client, "warm-up"));
        await().until(() -> counter.count("KV/Put") == 1 && counter.count("Watch message") == 1);
        counter.reset();
        return client;
    }

    @AfterEach
    void disconnect() {
        clients.forEach(TestClient::close);
        counters.forEach(counter -> counter.channel.shutdownNow());
    }

    private static TestTicket ticket(TestClient client, String lock, Demand demand) {
        return client.ticket(lock, demand, TTL);
    }

    private static TestTicket grant(TestClient client, String lock) {
        return client.grant(ticket(client, lock, Demand.exclusive()));
    }

    private static TestTicket enqueue(TestClient client, String lock) {
        return client.enqueue(ticket(client, lock, Demand.exclusive()));
    }

    private static boolean attempt(TestClient client, String lock) {
        return client.attempt(ticket(client, lock, Demand.exclusive()));
    }

    @Test
    void takingAFreeLockAndReleasingItAreOneCallEach() {
        TestTicket grant = grant(one, name);
        assertThat(ones.calls()).containsExactly(Map.entry("KV/Txn", 1));
        one.release(grant);
        assertThat(ones.calls()).containsExactly(Map.entry("KV/Txn", 2));
    }

    /** Nobody renews it, so it is owed its whole ttl: the lease of its session is extended first. */
    @Test
    void aFreeLockThatIsNotRenewedIsTakenByAKeepAliveAndOneCall() throws InterruptedException {
        Counter counter = new Counter();
        counters.add(counter);
        LockOptions fixed = LockOptions.defaults().withTtl(TTL).withRenewal(Renewal.NONE);
        try (Holdfast holdfast = Holdfast.builder().store(counter.store()).connect()) {
            holdfast.lock("warm-up", fixed).acquire().release();
            await().until(() -> counter.count("KV/Put") == 1 && counter.count("Watch message") == 1);
            counter.reset();

            Lease lease = holdfast.lock(name, fixed).acquire();

            assertThat(counter.calls()).containsOnly(Map.entry("Lease/LeaseKeepAlive", 1), Map.entry("KV/Txn", 1));
            lease.release();
            assertThat(counter.count("KV/Txn")).isEqualTo(2);
        }
    }

    @Test
    void aTryIsOneCallWhetherItSucceedsOrNot() {
        assertThat(attempt(one, name)).isTrue();
        assertThat(attempt(two, name)).isFalse();

        assertThat(ones.calls()).containsExactly(Map.entry("KV/Txn", 1));
        assertThat(twos.calls()).containsExactly(Map.entry("KV/Txn", 1));
    }

    @Test
    void aTryThatWasRefusedAsksNextTimeWithoutWriting() {
        TestTicket held = grant(one, name);
        assertThat(attempt(two, name)).isFalse();
        twos.reset();

        assertThat(attempt(two, name)).isFalse();
        assertThat(twos.calls()).containsExactly(Map.entry("KV/Range", 1));

        one.release(held);
        assertThat(attempt(two, name)).isTrue();
    }

    @Test
    void p9ATryThatWasRefusedAsksNextTimeWithoutWritingHoweverManyWereRefusedBefore() {
        for (int i = 0; i < 1_001; i++) {
            grant(one, name + i);
            assertThat(attempt(two, name + i)).isFalse();
        }
        grant(one, name);
        assertThat(attempt(two, name)).isFalse();
        twos.reset();

        assertThat(attempt(two, name)).isFalse();
        assertThat(twos.calls()).containsExactly(Map.entry("KV/Range", 1));
    }

    @Test
    void aReaderBesideReadersIsLetInByOneCall() {
        one.enqueue(ticket(one, name, Demand.shared())).arrived();
        two.enqueue(ticket(two, name, Demand.shared())).arrived();
        assertThat(two.attempt(ticket(two, name, Demand.shared()))).isTrue();

        assertThat(twos.calls()).containsOnlyKeys("KV/Txn");
        assertThat(twos.count("KV/Txn")).isBetween(2, 2 + MOST_REDRAWS);
    }

    /** He who knows of the crowd draws his slot from enough of them; two must not be taken. */
    @Test
    void p9AReaderBesideManyReadersIsLetInByOneCall() {
        for (int i = 0; i < 300; i++) {
            one.grant(ticket(one, name, Demand.shared()));
        }
        two.release(two.grant(ticket(two, name, Demand.shared())));
        twos.reset();
        for (int i = 0; i < 10; i++) {
            two.release(two.grant(ticket(two, name, Demand.shared())));
        }

        assertThat(twos.calls()).containsOnlyKeys("KV/Txn");
        assertThat(twos.count("KV/Txn")).isBetween(20, 20 + MOST_REDRAWS);
    }

    /** etcd counts by walking the lock's names, inside the write. */
    @Test
    void p9WhoSeesOthersInTheQueueDoesNotHaveThemCounted() {
        TestTicket held = grant(one, name);
        Deque<TestTicket> waiters = new ArrayDeque<>(List.of(enqueue(two, name)));
        awaitView(twos, 1);
        assertThat(twos.counting).hasPositiveValue();
        twos.reset();
        for (int i = 0; i < 20; i++) {
            waiters.add(enqueue(two, name));
        }
        // The first of them may have come before the view.
        assertThat(twos.counting.get()).isLessThanOrEqualTo(MOST_REDRAWS);

        one.release(held);
        waiters.forEach(waiter -> two.release(waiter.arrived()));
    }

    /** What a first wait costs: to queue, to open the view, and to list the queue once. */
    private static void awaitView(Counter counter, int listings) {
        awaitCalls(counter, listings, 1);
    }

    /** The view is closed when nobody waits any more: nothing else was sent. */
    private static void awaitEndOfView(Counter counter, int listings) {
        awaitCalls(counter, listings, 2);
    }

    private static void awaitCalls(Counter counter, int listings, int watchMessages) {
        await().untilAsserted(() -> {
            assertThat(counter.calls()).containsOnlyKeys("KV/Txn", "KV/Range", "Watch message");
            assertThat(counter.count("KV/Txn")).isBetween(1, 1 + MOST_REDRAWS);
            assertThat(counter.count("KV/Range")).isEqualTo(listings);
            assertThat(counter.count("Watch message")).isEqualTo(watchMessages);
        });
    }

    @Test
    void aLockHandedOverByItsHolderCostsNoCallAfterTheOneThatQueuedAndTheView() {
        TestTicket held = grant(one, name);
        TestTicket waiter = enqueue(two, name);
        awaitView(twos, 1);
        one.release(held);
        waiter.arrived();

        awaitEndOfView(twos, 1);
    }

    @Test
    void aReaderBehindAWriterIsLetInWithoutAnotherCall() {
        TestTicket held = grant(one, name);
        TestTicket reader = two.enqueue(ticket(two, name, Demand.shared()));
        awaitView(twos, 2);
        one.release(held);
        reader.arrived();

        awaitEndOfView(twos, 2);
    }

    @Test
    void aWaiterWhosePredecessorWaitedTooIsLetInWithoutAnotherCall() {
        TestClient three = connected(new Counter());
        TestTicket held = grant(one, name);
        TestTicket middle = enqueue(three, name);
        TestTicket last = enqueue(two, name);
        awaitView(twos, 1);
        one.release(held);
        three.release(middle.arrived());
        last.arrived();

        awaitEndOfView(twos, 1);
    }

    @Test
    void oneViewServesAllWhoWaitOneAfterTheOther() {
        TestTicket held = grant(one, name);
        Deque<TestTicket> waiters = new ArrayDeque<>(List.of(enqueue(two, name)));
        awaitView(twos, 1);
        waiters.add(enqueue(two, name));
        one.release(held);
        // There is always one who waits, so the view stays.
        for (int i = 0; i < 20; i++) {
            waiters.add(enqueue(two, name));
            two.release(waiters.remove().arrived());
        }

        assertThat(twos.count("KV/Txn")).isBetween(42, 42 + MOST_REDRAWS);
        assertThat(twos.count("KV/Range")).isEqualTo(1);
        assertThat(twos.count("Watch message")).isEqualTo(1);
    }

    @Test
    void p6TheNumberOfCallsDoesNotGrowWithTheNumberOfWaiters() {
        TestTicket held = grant(one, name);
        List<Counter> crowd = Stream.generate(Counter::new).limit(12).toList();
        List<TestClient> members = crowd.stream().map(this::connected).toList();
        List<TestTicket> waiters =
                members.stream().map(member -> enqueue(member, name)).toList();
        crowd.forEach(counter -> await().until(() -> counter.count("KV/Range") == 1));
        one.release(held);
        for (int i = 0; i < members.size(); i++) {
            members.get(i).release(waiters.get(i).arrived());
        }
        assertThat(crowd).allSatisfy(counter -> {
            // To queue and to release.
            assertThat(counter.count("KV/Txn")).isBetween(2, 2 + MOST_REDRAWS);
            assertThat(counter.count("KV/Range")).isEqualTo(1);
            // The view is opened and closed.
            assertThat(counter.count("Watch message")).isLessThanOrEqualTo(2);
        });
    }

    @Test
    void allRenewalsOfAClientAreOneKeepAliveAndOneRead() {
        List<TestTicket> grants = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            grants.add(grant(one, name + i));
        }
        ones.reset();
        one.store.renew(grants.stream().map(grant -> grant.ticket).toList(), TestClient.soon());

        assertThat(ones.calls()).containsOnly(Map.entry("Lease/LeaseKeepAlive", 1), Map.entry("KV/Txn", 1));
    }

    @Test
    void aCrowdThatGivesUpLeavesWithAFewCalls() {
        TestTicket held = grant(one, name);
        List<TestTicket> crowd =
                Stream.generate(() -> enqueue(two, name)).limit(120).toList();
        crowd.forEach(waiter -> waiter.ticket.end());
        twos.reset();

        List<Withdrawal> answers = crowd.stream().map(two::withdraw).toList();

        assertThat(answers).containsOnly(Withdrawal.REMOVED);
        assertThat(twos.count("KV/Txn")).isEqualTo(3);
        assertThat(one.store.view(name, TestClient.soon()).waiters()).isEmpty();
        assertThat(one.renew(held)).isEqualTo(TestClient.Renewed.KEPT);
    }

    @Test
    void aClientHasOneWatchStreamHoweverManyItWaitsFor() {
        for (int i = 0; i < 20; i++) {
            grant(one, name + i);
            enqueue(two, name + i);
        }
        // None but the one that was opened with the session.
        assertThat(twos.count("Watch/Watch")).isZero();
    }

    /** Counts the calls of one client, and the messages it sends on its watch stream. */
    private static final class Counter implements ClientInterceptor {

        private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
        private final AtomicInteger counting =
                new AtomicInteger(); // requests that have tickets counted if they are written
        private final ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.port())
                .usePlaintext()
                .build();

        StoreFactory store() {
            return EtcdStores.using(ClientInterceptors.intercept(channel, this));
        }

        TestClient client() {
            return new TestClient(store());
        }

        @Override
        public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            String call = method.getFullMethodName().replace("etcdserverpb.", "");
            increment(call);
            return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
                @Override
                public void sendMessage(Q message) {
                    if (message instanceof WatchRequest) {
                        increment("Watch message");
                    }
                    if (message instanceof TxnRequest txn && counts(txn)) {
                        counting.incrementAndGet();
                    }
                    super.sendMessage(message);
                }
            };
        }

        private static boolean counts(TxnRequest txn) {
            return txn.getSuccessList().stream()
                    .anyMatch(op -> op.hasRequestRange() && op.getRequestRange().getCountOnly());
        }

        private void increment(String call) {
            calls.computeIfAbsent(call, key -> new AtomicInteger()).incrementAndGet();
        }

        int count(String call) {
            return calls.getOrDefault(call, new AtomicInteger()).get();
        }

        Map<String, Integer> calls() {
            Map<String, Integer> counts = new ConcurrentHashMap<>();
            calls.forEach((call, count) -> counts.put(call, count.get()));
            return counts;
        }

        void reset() {
            counting.set(0);
            calls.clear();
        }
    }
}
