package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.DistributedLock;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.servers.EtcdServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("Crowds and history in etcd")
class CrowdTest {

    private EtcdServer server;

    @BeforeEach
    void startServer() {
        server = EtcdServer.start();
    }

    @AfterEach
    void stopServer() {
        server.close();
    }

    private String uri() {
        return "etcd://127.0.0.1:" + server.port();
    }

    /** Of the server, in the kernel's ticks of 10 ms. */
    private long cpuTicks() {
        try {
            String stat = Files.readString(Path.of("/proc/" + server.pid() + "/stat"));
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private double cpuTicksOf(int times, Runnable task) {
        long before = cpuTicks();
        for (int i = 0; i < times; i++) {
            task.run();
        }
        return cpuTicks() - before;
    }

    @Test
    @Tag("full")
    void p9TwentyThousandCyclesWithoutCompactionAreAsCheapAsTheFirstThousand() {
        try (TestClient client = TestClient.of(uri())) {
            Runnable cycle = () -> client.release(client.grant("lock"));
            cpuTicksOf(1_000, cycle);
            double first = cpuTicksOf(1_000, cycle);
            cpuTicksOf(17_000, cycle);
            double last = cpuTicksOf(1_000, cycle);

            System.out.printf("etcd, CPU of 1,000 cycles: first %.0f ms, last %.0f ms%n", 10 * first, 10 * last);
            assertThat(last).isLessThanOrEqualTo(1.2 * first);
        }
    }

    private void assertAllAreServed(int clients, int threads, Duration timeout) throws InterruptedException {
        List<Holdfast> all = new ArrayList<>();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        AtomicInteger holders = new AtomicInteger();
        CountDownLatch served = new CountDownLatch(clients * threads);
        CountDownLatch start = new CountDownLatch(1);
        try {
            for (int i = 0; i < clients; i++) {
                Holdfast client = Holdfast.builder()
                        .store(uri() + "?timeout=" + timeout.toSeconds() + "s")
                        .requestTimeout(timeout)
                        .connect();
                all.add(client);
                DistributedLock lock =
                        client.lock("crowd", LockOptions.defaults().withFairness(Fairness.FIFO));
                for (int j = 0; j < threads; j++) {
                    Thread thread = new Thread(() -> {
                        try {
                            start.await();
                            try (Lease lease = lock.acquire()) {
                                assertThat(holders.incrementAndGet()).isEqualTo(1);
                                lease.requireValid();
                                holders.decrementAndGet();
                            }
                        } catch (Throwable e) {
                            failures.add(e);
                        } finally {
                            served.countDown();
                        }
                    });
                    thread.setDaemon(true);
                    thread.start();
                }
            }
            long before = System.nanoTime();
            start.countDown();
            boolean inTime = served.await(2, TimeUnit.MINUTES);
            double seconds = (System.nanoTime() - before) / 1e9;
            System.out.printf(
                    "etcd, %d x %d threads in order: %.0f/s%n", clients, threads, clients * threads / seconds);

            assertThat(failures).isEmpty();
            assertThat(inTime).isTrue();
        } finally {
            all.forEach(Holdfast::close);
        }
    }

    @Test
    void p9NobodyFailsOfTwoHundredWhoJoinAtOnce() throws Exception {
        assertAllAreServed(4, 50, Duration.ofSeconds(30));
    }

    @Test
    @Tag("full")
    void p9NobodyFailsOfAThousandWhoJoinAtOnce() throws Exception {
        assertAllAreServed(4, 250, Duration.ofSeconds(5));
    }

    @Test
    @Tag("full")
    void p9ATryBesideFiveThousandReadersIsNotFiveThousandReads() {
        int readers = 5_000;
        int tries = 100;
        try (TestClient reading = TestClient.of(uri());
                TestClient trying = TestClient.of(uri())) {
            Demand shared = Demand.shared();
            Duration ttl = Duration.ofMinutes(5);
            Runnable read = () -> reading.grant(reading.ticket("lock", shared, ttl));
            Runnable write = () -> assertThat(trying.attempt("lock")).isFalse();
            Runnable readToo = () -> trying.release(trying.grant(trying.ticket("lock", shared, ttl)));
            read.run();
            double few = cpuTicksOf(tries, write) + cpuTicksOf(tries, readToo);
            for (int i = 1; i < readers; i++) {
                read.run();
            }
            double many = cpuTicksOf(tries, write) + cpuTicksOf(tries, readToo);

            System.out.printf(
                    "etcd, CPU of %d tries: %.0f ms, beside %d readers %.0f ms%n", tries, 10 * few, readers, 10 * many);
            assertThat(many).isLessThanOrEqualTo(3 * few + 10);
        }
    }

    @Test
    @Tag("full")
    void p9AReaderBesideFiveThousandReadersIsAsCheapAsBesideTen() {
        Duration ttl = Duration.ofMinutes(5);
        try (TestClient reading = TestClient.of(uri());
                TestClient other = TestClient.of(uri())) {
            Runnable read = () -> reading.grant(reading.ticket("lock", Demand.shared(), ttl));
            Runnable cycle = () -> other.release(other.grant(other.ticket("lock", Demand.shared(), ttl)));
            for (int i = 0; i < 10; i++) {
                read.run();
            }
            cpuTicksOf(1_000, cycle);
            double few = cpuTicksOf(1_000, cycle);
            for (int i = 10; i < 5_000; i++) {
                read.run();
            }
            cycle.run();
            double many = cpuTicksOf(1_000, cycle);

            System.out.printf(
                    "etcd, CPU of 1,000 readers' cycles beside 10: %.0f ms, beside 5,000: %.0f ms%n",
                    10 * few, 10 * many);
            assertThat(many).isLessThanOrEqualTo(1.5 * few);
        }
    }
}
