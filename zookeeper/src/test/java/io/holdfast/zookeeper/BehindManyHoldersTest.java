package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Those ahead need not leave for a ticket to be admitted: many may hold together with it. */
@DisplayName("Whoever waits behind many who hold, or will hold, together")
class BehindManyHoldersTest extends ProxiedServerTest {

    private static final Duration TTL = Duration.ofSeconds(30);
    private static final int MANY = 100;
    private static final Demand READ = Demand.shared();

    private StoreBench bench;
    private StoreBench other;

    @BeforeEach
    void open() {
        bench = StoreBench.at(proxied("1s"), TTL);
        other = StoreBench.at(TestServers.uri(server.connectString()), TTL);
    }

    @AfterEach
    void close() {
        bench.close();
        other.close();
    }

    @Test
    void P6_aReaderBehindManyHearsThatTheWriterBetweenGaveUp() throws Exception {
        hold("readers", READ);
        TestTicket writer = other.queue("readers");
        TestTicket reader = bench.queue("readers", READ);

        other.withdraw(writer);

        assertThat(reader.grants.poll(10, SECONDS)).isNotNull();
    }

    @Test
    void P6_aReaderBehindManyWhoWaitIsAdmittedWithThemAll() throws Exception {
        TestTicket writer = other.acquire("together");
        queue("together", READ);
        TestTicket reader = bench.queue("together", READ);

        other.release(writer);

        assertThat(reader.grants.poll(10, SECONDS)).isNotNull();
    }

    @Test
    void P6_whoWaitsForOneOfManyPermitsHearsOfWhicheverComesFreeFirst() throws Exception {
        Demand one = Demand.permits(1, MANY);
        List<TestTicket> holders = hold("permits", one);
        TestTicket waiter = bench.queue("permits", one);

        other.release(holders.get(MANY - 1));

        assertThat(waiter.grants.poll(10, SECONDS)).isNotNull();
    }

    @Test
    void P6_whoWaitsForPermitsBehindManyWhoDoHearsByAHeartbeatThatTheyHold() {
        Demand one = Demand.permits(1, MANY);
        List<TestTicket> holders = hold("far", one);
        List<TestTicket> waiters = queue("far", one);
        TestTicket last = bench.queue("far", one);

        // All leave but the one that is watched.
        holders.remove(MANY - 64);
        holders.forEach(other::release);
        waiters.subList(0, 2).forEach(waiter -> {
            await().until(() -> !waiter.grants.isEmpty());
            other.release(waiter);
        });

        await().until(() -> {
            bench.renew(last);
            return !last.grants.isEmpty();
        });
    }

    /** Whom the writer had to wait for, the reader need not. */
    @Test
    void P6_aReaderIsAdmittedThoughTheWriterOfItsOwnClientAheadOfItGaveUp() throws Exception {
        TestTicket first = other.acquire("same");
        queue("same", READ);
        TestTicket writer = bench.queue("same");
        TestTicket reader = bench.queue("same", READ);

        bench.withdraw(writer);
        other.release(first);

        assertThat(reader.grants.poll(10, SECONDS)).isNotNull();
    }

    /** Beside one who has three of five there is room for one, and not for three. */
    @Test
    void P6_whoWaitsForOnePermitIsAdmittedThoughWhoeverOfItsOwnClientWaitedForMoreGaveUp() {
        Demand three = Demand.permits(3, 5);
        TestTicket first = other.acquire("more", three);
        List<TestTicket> waiters = queue("more", three);
        TestTicket more = bench.queue("more", three);
        TestTicket one = bench.queue("more", Demand.permits(1, 5));

        bench.withdraw(more);
        // All leave but the one that was watched.
        waiters.remove(MANY - 64);
        waiters.forEach(other::withdraw);
        other.release(first);

        await().until(() -> {
            bench.renew(one);
            return !one.grants.isEmpty();
        });
    }

    private List<TestTicket> hold(String lock, Demand demand) {
        List<TestTicket> holders = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            holders.add(other.acquire(lock, demand));
        }
        return holders;
    }

    private List<TestTicket> queue(String lock, Demand demand) {
        List<TestTicket> waiters = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            waiters.add(other.queue(lock, demand));
        }
        return waiters;
    }
}
