package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.holdfast.Demand;
import io.holdfast.etcd.TestClient.Waiter;
import io.holdfast.servers.EtcdServer;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.RenewalRequest;
import java.util.ArrayList;
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
        client.release(client.grant("warm-up"));
        await().until(() -> counter.count("KV/Put") == 1);
        counter.reset();
        return client;
    }

    @AfterEach
    void disconnect() {
        clients.forEach(TestClient::close);
        counters.forEach(counter -> counter.channel.shutdownNow());
    }

    /** Each session has one open, and each waiter another once it has heard so from etcd. */
    private static void awaitWatches(int count) {
        Metrics metrics = new Metrics(server);
        await().until(() -> metrics.sum("etcd_debugging_mvcc_watcher_total") == count);
    }

    @Test
    void takingAFreeLockAndReleasingItAreOneCallEach() {
        Grant grant = one.grant(name);
        assertThat(ones.calls()).containsExactly(Map.entry("KV/Txn", 1));
        one.release(grant);
        assertThat(ones.calls()).containsExactly(Map.entry("KV/Txn", 2));
    }

    @Test
    void aTryIsOneCallWhetherItSucceedsOrNot() {
        assertThat(one.attempt(name)).isInstanceOf(Answer.Granted.class);
        assertThat(two.attempt(name)).isInstanceOf(Answer.Refused.class);

        assertThat(ones.calls()).containsExactly(Map.entry("KV/Txn", 1));
        assertThat(twos.calls()).containsExactly(Map.entry("KV/Txn", 1));
    }

    @Test
    void aLockHandedOverByItsHolderCostsNoCallAfterTheOneThatQueued() {
        Grant held = one.grant(name);
        Waiter waiter = two.enqueue(name);
        awaitWatches(3);
        one.release(held);
        waiter.arrived();

        assertThat(twos.calls()).containsExactly(Map.entry("KV/Txn", 1));
    }

    @Test
    void aReaderBehindAWriterIsLetInWithoutAnotherCall() {
        Grant held = one.grant(name);
        Waiter reader = two.enqueue(two.request(name, Demand.shared(), TestClient.TTL));
        awaitWatches(3);
        one.release(held);
        reader.arrived();

        assertThat(twos.calls()).containsExactly(Map.entry("KV/Txn", 1));
    }

    @Test
    void aWaiterWhosePredecessorWaitedTooLooksOnceWhenThatOneIsGone() {
        TestClient three = connected(new Counter());
        Grant held = one.grant(name);
        Waiter middle = three.enqueue(name);
        Waiter last = two.enqueue(name);
        awaitWatches(5);
        one.release(held);
        Grant next = middle.arrived();
        assertThat(twos.calls()).containsExactly(Map.entry("KV/Txn", 1));
        three.release(next);
        last.arrived();

        assertThat(twos.calls()).containsExactly(Map.entry("KV/Txn", 2));
    }

    @Test
    void p6TheNumberOfCallsDoesNotGrowWithTheNumberOfWaiters() {
        Grant held = one.grant(name);
        List<Counter> crowd = Stream.generate(Counter::new).limit(12).toList();
        List<TestClient> members = crowd.stream().map(this::connected).toList();
        List<Waiter> waiters =
                members.stream().map(member -> member.enqueue(name)).toList();
        one.release(held);
        for (int i = 0; i < members.size(); i++) {
            members.get(i).release(waiters.get(i).arrived());
        }
        assertThat(crowd).allSatisfy(counter -> {
            // To queue and to release, and to look: because others had come when the watch opened, because others had
            // come when it was surely registered, and when the one ahead went.
            assertThat(counter.count("KV/Txn")).isLessThanOrEqualTo(5);
            assertThat(counter.count("KV/Range")).isZero();
        });
    }

    @Test
    void allRenewalsOfAClientAreOneKeepAliveAndOneRead() {
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            grants.add(one.grant(name + i));
        }
        ones.reset();
        one.store.renew(
                grants.stream()
                        .map(grant -> new RenewalRequest(grant, grant.ttl()))
                        .toList(),
                TestClient.soon());

        assertThat(ones.calls()).containsOnly(Map.entry("Lease/LeaseKeepAlive", 1), Map.entry("KV/Txn", 1));
    }

    @Test
    void aClientHasOneWatchStreamHoweverManyItWaitsFor() {
        for (int i = 0; i < 20; i++) {
            one.grant(name + i);
            two.enqueue(name + i);
        }
        // None but the one that was opened with the session.
        assertThat(twos.count("Watch/Watch")).isZero();
    }

    /** Counts the calls of one client. */
    private static final class Counter implements ClientInterceptor {

        private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
        private final ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.port())
                .usePlaintext()
                .build();

        TestClient client() {
            return new TestClient(EtcdStores.using(ClientInterceptors.intercept(channel, this)));
        }

        @Override
        public <Q, R> ClientCall<Q, R> interceptCall(MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
            String call = method.getFullMethodName().replace("etcdserverpb.", "");
            calls.computeIfAbsent(call, key -> new AtomicInteger()).incrementAndGet();
            return next.newCall(method, options);
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
            calls.clear();
        }
    }
}
