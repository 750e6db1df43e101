package io.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Holdfast;
import io.holdfast.bench.Report;
import io.holdfast.bench.report.ConsoleTable;
import io.holdfast.bench.server.StoreAddress;
import io.holdfast.examples.OversoldStock.Warehouse;
import io.holdfast.spi.StoreProvider;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ExamplesTest {

    @TempDir
    Path directory;

    private final Holdfast holdfast = Holdfast.connect("memory:");

    @AfterEach
    void close() {
        holdfast.close();
    }

    @Test
    void stockIsNeverOversold() throws Exception {
        Warehouse warehouse = new Warehouse(10);

        assertThat(OversoldStock.sell(holdfast, warehouse, 50)).isEqualTo(10);
        assertThat(warehouse.left()).isZero();
    }

    @Test
    void stockIsOversoldWithoutTheLock() throws Exception {
        assertThat(OversoldStock.sellUnguarded(new Warehouse(10), 50)).isGreaterThan(10);
    }

    @Test
    void everyStoreCanBeNamed() {
        assertThat(ServiceLoader.load(StoreProvider.class).stream()
                        .map(provider -> provider.get().example())
                        .map(example -> example.replaceFirst(":.*", "")))
                .contains("memory", "file", "redis", "etcd", "zookeeper", "jdbc");
    }

    @Test
    void theExperimentComparesPollingWithWatching() {
        Report report = PollingAgainstWatching.measure(
                StoreAddress.of("file:" + directory).called("file:"), 1);

        assertThat(report.hasRefusals())
                .as(ConsoleTable.lines(report).toString())
                .isFalse();
        assertThat(ConsoleTable.lines(report)).anyMatch(line -> line.contains("waiting in the queue gets it"));
    }

    @Test
    void oneDriverGrabsTheOrder() {
        OrderGrabbing orders = new OrderGrabbing(holdfast);
        AtomicInteger drivers = new AtomicInteger();

        IntStream.range(0, 20).parallel().forEach(driver -> {
            if (orders.grab("order-7", "driver-" + driver)) {
                drivers.incrementAndGet();
            }
        });

        assertThat(drivers).hasValue(1);
        assertThat(orders.grab("order-8", "bob")).isTrue();
    }

    @Test
    void jobRunsOnceThoughItEndsAtOnce() {
        AtomicInteger runs = new AtomicInteger();

        boolean first = JobThatRunsOnce.runOnce(holdfast, runs::incrementAndGet);
        boolean second = JobThatRunsOnce.runOnce(holdfast, runs::incrementAndGet);

        assertThat(List.of(first, second)).containsExactly(true, false);
        assertThat(runs).hasValue(1);
    }

    @Test
    void messageDeliveredManyTimesAtOnceIsPaidOnce() throws Exception {
        DuplicateMessage consumer = new DuplicateMessage(holdfast);
        ExecutorService consumers = Executors.newFixedThreadPool(8);
        Callable<String> delivery = () -> consumer.onMessage("payment-1");

        List<Future<String>> receipts =
                consumers.invokeAll(List.of(delivery, delivery, delivery, delivery, delivery, delivery));

        for (Future<String> receipt : receipts) {
            assertThat(receipt.get()).isEqualTo(receipts.get(0).get());
        }
        consumers.shutdown();
    }
}
