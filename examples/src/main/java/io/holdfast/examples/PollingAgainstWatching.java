package io.holdfast.examples;

import io.holdfast.bench.HoldfastContender.Mode;
import io.holdfast.bench.Pace;
import io.holdfast.bench.Report;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.StoreBench;
import io.holdfast.bench.report.ConsoleTable;
import io.holdfast.bench.report.HtmlReport;
import io.holdfast.bench.server.StoreAddress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/**
 * The classic experiment: those who wait for a lock ask again and again, or stand in a queue and are told. At low contention, four
 * clients, and at high, sixteen; with an empty section and with one of 5 ms.
 */
public final class PollingAgainstWatching {

    private PollingAgainstWatching() {}

    public static void main(String[] args) throws IOException {
        String store = Examples.option("--store", args)
                .or(() -> Optional.ofNullable(System.getenv("HOLDFAST_STORE")))
                .orElse("");
        double seconds = Double.parseDouble(Examples.option("--seconds", args).orElse("3"));
        Path page = Path.of(Examples.option("--html", args).orElse("polling-against-watching.html"));
        Path files = Files.createTempDirectory("holdfast-example-");
        StoreAddress address =
                store.isEmpty() ? StoreAddress.of("file:" + files).called("file:") : StoreAddress.of(store);

        Report report = measure(address, seconds);

        ConsoleTable.lines(report).forEach(System.out::println);
        Files.writeString(page, HtmlReport.of(report));
        System.out.println();
        System.out.println("The plots are in " + page.toAbsolutePath());
    }

    static Report measure(StoreAddress address, double seconds) {
        StoreBench bench = new StoreBench(
                List.of(address),
                List.of(Mode.QUEUED, Mode.POLLING),
                EnumSet.of(Scenario.FEW, Scenario.PROCESSES, Scenario.SECTION),
                Pace.ofSeconds(seconds));
        return bench.run(progress -> {
            if (progress.done() < progress.all()) {
                System.err.println((progress.done() + 1) + " of " + progress.all() + ": " + progress.doing());
            }
        });
    }
}
