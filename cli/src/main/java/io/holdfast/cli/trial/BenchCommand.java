package io.holdfast.cli.trial;

import io.holdfast.bench.HoldfastContender.Mode;
import io.holdfast.bench.Pace;
import io.holdfast.bench.Report;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.StoreBench;
import io.holdfast.bench.report.ConsoleTable;
import io.holdfast.bench.report.HtmlReport;
import io.holdfast.bench.server.StoreAddress;
import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.HelpOption;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.StoreCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code holdfast bench}. */
@Command(
        name = "bench",
        header = "Measures locks on your stores: queued and polling, side by side.",
        description = {
            "",
            "Starts a few JVMs that take and return locks as fast as they can, and tells how often that works, how long"
                    + " everybody waits, how fair it is and what it costs. Whether only one is inside at a time is"
                    + " checked all the while.",
            ""
        },
        footer = {
            "  holdfast bench --html report.html",
            "  holdfast bench redis://localhost:6379 --seconds 5",
            "  holdfast bench redis://localhost etcd://localhost --scenario free,crowd"
        })
public final class BenchCommand implements Callable<Integer>, StoreCommand {

    private final Output output;

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "0..*",
            paramLabel = "STORE-URI",
            description = "The stores to measure. Default: the embedded ones, memory: and file:.")
    private List<String> stores = List.of();

    @Option(
            names = "--scenario",
            paramLabel = "NAMES",
            defaultValue = "all",
            description = "What to run, separated by commas: free, spread, few, crowd, processes, section, growth,"
                    + " network, held. Default: all, which leaves out held (10,000 leases for a minute).")
    private String scenario = "all";

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "2.5",
            description =
                    "How long each run is measured. Default: 2.5. From 5 on there is also one with 1,000 waiters.")
    private double seconds;

    @Option(
            names = "--waiting",
            paramLabel = "NAMES",
            defaultValue = "queued,polling",
            description =
                    "Ways to wait: queued, polling, fifo (every thread in the store's queue), unshared (as queued,"
                            + " every release goes to the store). Default: queued,polling.")
    private String waiting = "queued,polling";

    @Option(names = "--json", paramLabel = "FILE", description = "Write all figures as JSON; '-' is standard output.")
    private @Nullable String json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page with tables and plots.")
    private @Nullable Path html;

    @Mixin
    private HelpOption help = new HelpOption();

    private @Nullable ReportFile page;
    private @Nullable ReportFile figures;

    public BenchCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() throws IOException {
        if (!(seconds >= 0.1 && seconds <= 3600)) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(), "--seconds must be between 0.1 and 3600, not " + seconds);
        }
        page = ReportFile.check("--html", html);
        figures = ReportFile.check("--json", json == null || json.equals("-") ? null : Path.of(json));
        Thread bench = Thread.currentThread();
        Thread cleanUp = new Thread(() -> endOf(bench));
        Runtime.getRuntime().addShutdownHook(cleanUp);
        Optional<Path> directory = Optional.empty();
        try {
            if (stores.isEmpty()) {
                directory = Optional.of(Files.createTempDirectory("holdfast-bench-file-"));
            }
            return measure(directory);
        } catch (RuntimeException e) {
            // Whatever was under way then breaks off in its own words.
            if (!bench.isInterrupted()) {
                throw e;
            }
            output.warn("interrupted, so there are no figures.");
            return Failure.INTERNAL.exitCode;
        } finally {
            if (directory.isPresent()) {
                delete(directory.get());
            }
            if (!bench.isInterrupted()) {
                Runtime.getRuntime().removeShutdownHook(cleanUp);
            }
        }
    }

    @Override
    public String attempt() {
        return "use the store";
    }

    @Override
    public String consequence() {
        return "Nothing was run.";
    }

    private int measure(Optional<Path> directory) throws IOException {
        List<StoreAddress> addresses = new ArrayList<>();
        directory.ifPresent(path -> {
            addresses.add(StoreAddress.of("memory:bench").called("memory:"));
            addresses.add(StoreAddress.of("file:" + path).called("file:"));
        });
        stores.forEach(store -> addresses.add(StoreAddress.of(store)));
        stores.forEach(CommonOptions::requireAnswer);
        StoreBench bench = new StoreBench(addresses, modes(), Scenario.parse(scenario), Pace.ofSeconds(seconds));
        BenchProgress progress = new BenchProgress(output.messages());
        progress.announce(bench.expected());
        Report report = bench.run(progress);
        progress.clear();
        if ("-".equals(json)) {
            output.print(report.toJson());
        } else {
            ConsoleTable.lines(report).forEach(output::print);
        }
        write(report);
        return report.hasRefusals() ? Failure.INTERNAL.exitCode : 0;
    }

    private void write(Report report) {
        if (figures != null) {
            figures.write(file -> Files.writeString(file, report.toJson()));
        }
        if (page != null) {
            page.write(file -> Files.writeString(file, HtmlReport.of(report)));
        }
        if (html == null && json == null) {
            output.print("");
            output.print("Add --html FILE for a page with plots and explanations, --json FILE for all figures.");
        }
    }

    private List<Mode> modes() {
        return Arrays.stream(waiting.split(","))
                .map(word -> Arrays.stream(Mode.values())
                        .filter(mode -> mode.key().equals(word.strip().toLowerCase(Locale.ROOT)))
                        .findAny()
                        .orElseThrow(() -> new CommandLine.ParameterException(
                                spec.commandLine(),
                                "--waiting knows queued, polling, fifo and unshared, not '" + word + "'")))
                .toList();
    }

    /** Ends the measurement the orderly way when the process is told to end. */
    private static void endOf(Thread bench) {
        bench.interrupt();
        try {
            bench.join(3000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
