package io.holdfast.cli.trial;

import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.DurationConverter;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.OutputOptions;
import io.holdfast.cli.console.StoreCommand;
import io.holdfast.torture.Campaign;
import io.holdfast.torture.Job;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.report.CellSummary;
import io.holdfast.torture.report.Headline;
import io.holdfast.torture.report.HtmlReport;
import io.holdfast.torture.report.Results;
import io.holdfast.torture.report.SafetyPage;
import io.holdfast.torture.stand.LocalServers;
import io.holdfast.torture.stand.LocalStore;
import io.holdfast.torture.stand.NotPossibleException;
import io.holdfast.torture.stand.OwnStore;
import io.holdfast.torture.worker.Workload;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast torture}. */
@Command(
        name = "torture",
        header = "Kills, stops and cuts off processes that share locks, and judges whether every promise was kept.",
        description = {
            "%nOn a store of yours it starts worker processes here, kills and pauses them and disturbs the network between"
                    + " them and the store. With --local, in a build from source, it starts real servers and does"
                    + " everything to them, too."
                    + " Exit code: 0 if nothing was broken beyond what the store's page admits, 1 if something was"
                    + " or could not be judged."
        },
        footer = {
            "  holdfast torture redis://localhost:6379 --minutes 2 --html report.html",
            "  holdfast torture etcd://h1,h2,h3 --faults kill,pause",
            "  holdfast torture --local postgres --faults pause,cut,server-kill",
            "  holdfast torture --local all --parallel 5 --results results --safety safety.md"
        })
public final class TortureCommand implements Callable<Integer>, StoreCommand {

    private final Output output;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "STORE-URI",
            description = "The store to torture. Default: the environment variable HOLDFAST_STORE, which also keeps a"
                    + " password out of the process list.")
    private @Nullable String uri;

    @Option(
            names = "--local",
            split = ",",
            paramLabel = "STORE",
            description = "Start servers here and torture those: redis, sentinel, sentinel-replicas, cluster, redlock,"
                    + " etcd, zookeeper, mariadb, postgres, file, or all.")
    private List<String> local = new ArrayList<>();

    @Option(
            names = "--minutes",
            paramLabel = "N",
            description = "How long faults come, per cell. Default: 2, with --local 1.")
    private @Nullable Double minutes;

    @Option(names = "--cell-seconds", paramLabel = "N", description = "The same in seconds.")
    private @Nullable Integer cellSeconds;

    @Option(
            names = "--faults",
            split = ",",
            paramLabel = "FAULT",
            description = "What happens: kill, pause, net, server, clock, mischief, executor, or single faults such as"
                    + " cut-replies. Default: all that are possible. With --local each of them alone is a cell.")
    private List<String> faults = new ArrayList<>();

    @Option(
            names = "--mixed",
            description = "With --local and --faults: a cell with all of them at once, and none with each alone.")
    private boolean mixedOnly;

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "5",
            description = "How many processes. Default: ${DEFAULT-VALUE}.")
    private int workers;

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "Of all leases. Default: 2s, or what ZooKeeper grants by default.")
    private @Nullable Duration ttl;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description = "The same seed gives the same schedule of faults. Default: a random one, which is printed.")
    private @Nullable Long seed;

    @Option(
            names = "--parallel",
            paramLabel = "N",
            defaultValue = "1",
            description = "With --local: how many cells at a time. Default: ${DEFAULT-VALUE}.")
    private int parallel;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description =
                    "Keep the result of every cell here, as JSON; cells that are already there are not run again.")
    private @Nullable Path results;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a report with time lines.")
    private @Nullable Path html;

    @Option(
            names = "--safety",
            paramLabel = "FILE",
            description = "Write the table of stores, faults and promises, as in docs/safety.md.")
    private @Nullable Path safety;

    @Option(names = "--plan", description = "Print the schedule of faults and run nothing.")
    private boolean planOnly;

    @Mixin
    private OutputOptions outputOptions = new OutputOptions();

    public TortureCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        ReportFile page = ReportFile.check("--html", html);
        ReportFile safetyPage = ReportFile.check("--safety", safety);
        List<Job> jobs = jobs();
        if (planOnly) {
            jobs.forEach(this::printPlan);
            return 0;
        }
        if (local.isEmpty()) {
            CommonOptions.requireAnswer(ownStore());
        }
        Path directory = Files.createTempDirectory("holdfast-torture-");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Results kept = results == null ? null : new Results(results);
        List<CellSummary> summaries = new ArrayList<>();
        List<Job> open = new ArrayList<>();
        for (Job job : jobs) {
            if (kept != null && kept.find(job.cell().name()).isPresent()) {
                summaries.add(kept.find(job.cell().name()).get());
            } else {
                open.add(job);
            }
        }
        HtmlReport report = new HtmlReport();
        TortureProgress progress = new TortureProgress(output, directory, open.size(), report, kept);
        summaries.addAll(new Campaign(open, parallel, directory, progress).run());
        progress.end();
        // Only if nothing of interest is left in it.
        directory.toFile().delete();
        Headline headline = Headline.of(summaries);
        new TortureVerdict(output).print(summaries, headline);
        if (page != null) {
            page.write(file -> report.write(file, headline));
        }
        if (safetyPage != null) {
            safetyPage.write(file -> SafetyPage.write(kept == null ? summaries : kept.all(), file));
        }
        return headline.outcome() == Headline.Outcome.KEPT ? 0 : 1;
    }

    @Override
    public String attempt() {
        return "use the store";
    }

    @Override
    public String consequence() {
        return "Nothing was run.";
    }

    private List<Job> jobs() {
        if (workers < 1 || workers > 100) {
            throw new IllegalArgumentException("--workers must be between 1 and 100");
        }
        if (parallel < 1) {
            throw new IllegalArgumentException("--parallel must be at least 1");
        }
        Set<Fault> asked = faults.isEmpty() ? EnumSet.allOf(Fault.class) : Fault.parse(faults);
        return local.isEmpty() ? List.of(ownJob(asked)) : localJobs(asked);
    }

    private List<Job> localJobs(Set<Fault> asked) {
        if (uri != null) {
            throw new IllegalArgumentException("name a store or --local, not both");
        }
        Set<LocalStore> stores = new LinkedHashSet<>();
        local.forEach(word -> stores.addAll(LocalStore.parse(word)));
        if (!planOnly && stores.stream().anyMatch(LocalStore::needsServers)) {
            requireServers();
        }
        Job.Terms terms = terms(1, Duration.ofSeconds(2));
        List<Job> jobs = Job.matrix(stores, asked, mixedOnly || faults.isEmpty(), terms);
        return mixedOnly
                ? jobs.stream()
                        .filter(job -> job.cell().title().equals("mixed"))
                        .toList()
                : jobs;
    }

    /** Before anything is run: every cell would say the same. */
    private static void requireServers() {
        try {
            LocalServers.find();
        } catch (NotPossibleException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private String ownStore() {
        String store = uri != null ? uri : CommonOptions.storeOfEnvironment();
        if (store == null) {
            throw new IllegalArgumentException("name a store, as in redis://localhost:6379, or --local redis");
        }
        CommonOptions.requireShared(store);
        return store;
    }

    private Job ownJob(Set<Fault> asked) {
        String store = ownStore();
        OwnStore own = new OwnStore(store);
        Set<Fault> possible = own.faults();
        possible.retainAll(asked);
        if (possible.isEmpty() && !asked.isEmpty()) {
            throw new IllegalArgumentException(
                    "none of these faults can be done to " + own.shown() + " from here; possible are "
                            + own.faults().stream().map(Fault::word).toList());
        }
        boolean zookeeper = store.startsWith("zookeeper");
        Set<Workload> workloads = store.startsWith("redlock:")
                ? EnumSet.of(Workload.EXCLUSIVE, Workload.SHARED)
                : EnumSet.allOf(Workload.class);
        return Job.on(own, possible, workloads, terms(2, Duration.ofSeconds(zookeeper ? 6 : 2)));
    }

    private Job.Terms terms(double defaultMinutes, Duration defaultTtl) {
        Duration length = cellSeconds != null
                ? Duration.ofSeconds(cellSeconds)
                : Duration.ofMillis(Math.round(60_000 * (minutes != null ? minutes : defaultMinutes)));
        long chosen = seed != null ? seed : ThreadLocalRandom.current().nextLong(1, 1_000_000_000);
        if (seed == null && !output.isJson()) {
            output.print("Seed " + chosen + ": --seed " + chosen + " repeats this schedule of faults.");
        }
        return new Job.Terms(length, ttl != null ? ttl : defaultTtl, workers, chosen);
    }

    private void printPlan(Job job) {
        output.print(job.cell().name() + ", seed " + job.cell().seed());
        job.schedule().faults().forEach(fault -> output.print("  " + fault));
    }
}
