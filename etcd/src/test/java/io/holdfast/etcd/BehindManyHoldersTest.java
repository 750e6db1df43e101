package io.holdfast.etcd;

import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.servers.EtcdServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Those ahead need not leave for a ticket to be admitted: many may hold together with it. */
@DisplayName("Whoever waits behind many who hold, or will hold, together")
class BehindManyHoldersTest {

    /** Nobody dies of it while a test lasts. */
    private static final Duration TTL = Duration.ofMinutes(5);

    private static final int MANY = 200;
    private static final Demand READ = Demand.shared();
    private static final Demand ONE_OF_MANY = Demand.permits(1, MANY);

    private static EtcdServer server;

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
        one = TestClient.of("etcd://127.0.0.1:" + server.port());
        two = TestClient.of("etcd://127.0.0.1:" + server.port());
    }

    @AfterEach
    void disconnect() {
        one.close();
        two.close();
    }

    @Test
    void p6AReaderBehindManyHearsThatTheWriterBetweenGaveUp() {
        queue(one, "readers", READ);
        TestTicket writer = one.enqueue(one.ticket("readers", Demand.exclusive(), TTL));
        TestTicket reader = two.enqueue(two.ticket("readers", READ, TTL));
        await().during(Duration.ofMillis(500)).until(() -> !reader.isGranted());

        one.withdraw(writer);

        reader.arrived();
    }

    @Test
    void p6AReaderBehindManyWhoWaitIsAdmittedWithThemAll() {
        TestTicket writer = one.grant(one.ticket("together", Demand.exclusive(), TTL));
        queue(one, "together", READ);
        TestTicket reader = two.enqueue(two.ticket("together", READ, TTL));

        one.release(writer);

        reader.arrived();
    }

    @Test
    void p6WhoWaitsForOneOfManyPermitsHearsOfWhicheverComesFreeFirst() {
        List<TestTicket> holders = queue(one, "permits", ONE_OF_MANY);
        TestTicket waiter = two.enqueue(two.ticket("permits", ONE_OF_MANY, TTL));

        one.release(holders.get(MANY - 1));

        waiter.arrived();
    }

    @Test
    void p6WhoWaitsForPermitsBehindManyWhoDoHearsByAHeartbeatThatTheyHold() {
        List<TestTicket> holders = queue(one, "far", ONE_OF_MANY);
        List<TestTicket> waiters = queue(one, "far", ONE_OF_MANY);
        TestTicket last = two.enqueue(two.ticket("far", ONE_OF_MANY, TTL));

        // All leave but the one that is watched.
        holders.remove(MANY - 64);
        holders.forEach(one::release);
        waiters.subList(0, 2).forEach(waiter -> one.release(waiter.arrived()));

        await().atMost(Duration.ofSeconds(20)).until(() -> {
            two.renew(last);
            return last.isGranted();
        });
    }

    /** Whom the writer had to wait for, the reader need not. */
    @Test
    void p6AReaderIsAdmittedThoughTheWriterOfItsOwnClientAheadOfItGaveUp() {
        queue(one, "same", READ);
        TestTicket writer = two.enqueue(two.ticket("same", Demand.exclusive(), TTL));
        TestTicket reader = two.enqueue(two.ticket("same", READ, TTL));
        awaitWatches(1);

        two.withdraw(writer);

        reader.arrived();
    }

    /** Beside one who has three of five there is room for one, and not for three. */
    @Test
    void p6WhoWaitsForOnePermitIsAdmittedThoughWhoeverOfItsOwnClientWaitedForMoreGaveUp() {
        Demand three = Demand.permits(3, 5);
        List<TestTicket> ahead = queue(one, "more", three);
        TestTicket more = two.enqueue(two.ticket("more", three, TTL));
        TestTicket last = two.enqueue(two.ticket("more", Demand.permits(1, 5), TTL));
        awaitWatches(2);

        two.withdraw(more);
        // All leave but the one that was watched.
        ahead.remove(MANY - 64);
        one.release(ahead.remove(0));
        ahead.forEach(one::withdraw);

        await().atMost(Duration.ofSeconds(20)).until(() -> {
            two.renew(last);
            return last.isGranted();
        });
    }

    /** Of queues, beside those that each client has of its session. */
    private static void awaitWatches(int ofQueues) {
        Metrics metrics = new Metrics(server);
        await().until(() -> metrics.sum("etcd_debugging_mvcc_watcher_total") == 2 + ofQueues);
    }

    private static List<TestTicket> queue(TestClient client, String lock, Demand demand) {
        return IntStream.range(0, MANY)
                .mapToObj(i -> client.enqueue(client.ticket(lock, demand, TTL)))
                .collect(Collectors.toList());
    }
}
