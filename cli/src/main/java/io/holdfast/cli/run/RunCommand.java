package io.holdfast.cli.run;

import io.holdfast.Acquirable;
import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.DurationConverter;
import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.LockText;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.StderrLoggerFinder;
import io.holdfast.cli.console.StoreCommand;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast run}. */
@Command(
        name = "run",
        header = "Waits for a lock, runs a command while holding it, and passes the command's exit code on.",
        customSynopsis = "holdfast run [OPTIONS] NAME -- COMMAND [ARGUMENT...]",
        description = {
            "",
            "The lock is free again when the command ends, when it or holdfast is killed, or when the machine dies. If"
                    + " the lock is lost while the command runs (the store was unreachable for too long, say), the"
                    + " command is ended: TERM, then KILL. Processes that the command leaves in the background do not"
                    + " keep the lock.",
            "",
            "The command gets HOLDFAST_NAME and HOLDFAST_TOKEN, a number that grows with every holder: let whatever"
                    + " the command writes to refuse a smaller one than it has seen. It does not get the store's"
                    + " address."
        },
        synopsisHeading = "%nUsage: ",
        footer = {
            "  holdfast run nightly -- ./report.sh",
            "  holdfast run -n nightly -- ./report.sh         skip it if it is already running",
            "  holdfast run -w 120 deploy -- ./deploy.sh      wait at most two minutes",
            "  holdfast run --permits 3 api -- ./crawl.sh     at most three at a time",
            "  holdfast run hello -- sh -c 'echo $HOLDFAST_TOKEN'"
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            " :the command's own; 128 + n if signal n ended it",
            "1:the lock is taken, and -n or -w said not to wait longer (-E changes it)",
            "64:wrong usage",
            "69:the store cannot be reached",
            "70:internal error",
            "75:the lock was lost while the command ran, or just before it was started",
            "126:the command cannot be run",
            "127:the command was not found"
        })
public final class RunCommand implements Callable<Integer>, StoreCommand {

    /** When a wait is worth a line that names the holder. */
    private static final Duration LONG_WAIT = Duration.ofSeconds(10);

    /** For starting up on a busy machine, connecting and logging in: none of which says anything about the lock. */
    private static final Duration FIRST_CONTACT = Duration.ofSeconds(10);

    private final Output output;
    private final List<String> command;

    @Mixin
    private CommonOptions common = new CommonOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock: any text, such as nightly or stock/sku-42.")
    private String name = "";

    @Option(
            names = {"-n", "--no-wait"},
            description = "Do not wait: end with exit code 1 if the lock is taken.")
    private boolean noWait;

    @Option(
            names = {"-w", "--wait"},
            paramLabel = "SEC",
            converter = DurationConverter.class,
            description = "Wait at most this long: seconds, also as 0.5, 500ms or 2m. A store that cannot be reached is"
                    + " tried again for as long; connecting to one that answers does not count. Default: wait for the"
                    + " lock for ever, for the store not at all.")
    private @Nullable Duration wait;

    @Option(
            names = {"-E", "--conflict-exit-code"},
            paramLabel = "CODE",
            description = "The exit code if the lock is taken. Default: 1.")
    private int conflictCode = Failure.CONFLICT.exitCode;

    @Option(
            names = {"-s", "--shared"},
            description = "Hold it together with others that say -s: readers beside readers, never beside a writer.")
    private boolean shared;

    @Option(names = "--permits", paramLabel = "M", description = "Let up to M hold it at a time.")
    private @Nullable Integer permits;

    @Option(
            names = "--ttl",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "How long the store keeps the lock for a holder it no longer hears from. It is renewed while"
                    + " the command runs, however long that is. Default: 30s.")
    private @Nullable Duration ttl;

    @Option(
            names = "--hold-at-least",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "Keep the lock at least this long, so that a job that ends early does not run again on a"
                    + " machine whose clock is behind.")
    private @Nullable Duration holdAtLeast;

    @Option(
            names = "--grace",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "How long a command whose lock was lost has between TERM and KILL. Default: 5s.")
    private Duration grace = Duration.ofSeconds(5);

    @Option(
            names = {"-q", "--quiet"},
            description = "Say nothing about a lock that is taken or a long wait.")
    private boolean quiet;

    public RunCommand(Output output, List<String> command) {
        this.output = output;
        this.command = command;
    }

    @Override
    public Integer call() throws IOException {
        requireSense();
        Executable.require(command.get(0));
        if (quiet) {
            StderrLoggerFinder.dropWarnings();
        }
        SignalRelay signals = SignalRelay.install(Thread.currentThread());
        long askedNanos = System.nanoTime();
        Patience patience = new Patience(noWait ? Duration.ZERO : wait, output);
        RenewalReporter renewals = new RenewalReporter(output);
        HeldRun run = new HeldRun(output, signals, command, grace, renewals);
        @Nullable Holdfast holdfast = null;
        try {
            Holdfast connected = patience.with(() -> connect(renewals));
            holdfast = connected;
            patience.connecting(() -> connected.ping(FIRST_CONTACT));
            Acquirable<Lease> lock = lock(connected);
            Optional<Lease> granted = patience.with(() -> acquire(lock, patience));
            if (granted.isEmpty()) {
                return conflict(connected);
            }
            Duration waited = Duration.ofNanos(System.nanoTime() - askedNanos);
            return run.run(granted.get(), waited);
        } catch (InterruptedException e) {
            return signals.exitCode();
        } finally {
            // Closing would go on asking a store that is down to free the lock, which its ttl does anyway.
            if (holdfast != null && run.isSettled()) {
                holdfast.close();
            }
        }
    }

    @Override
    public String attempt() {
        return "take lock " + Names.inText(name);
    }

    @Override
    public String consequence() {
        return "The command did not run.";
    }

    private Holdfast connect(RenewalReporter renewals) {
        HoldfastBuilder builder = common.builder().longWait(LONG_WAIT);
        return builder.listener(renewals).connect();
    }

    private void requireSense() {
        if (command.isEmpty()) {
            throw usage("the command to run is missing. Put it after two dashes: holdfast run NAME -- COMMAND.");
        }
        if (noWait && wait != null) {
            throw usage("-n and -w contradict each other: not to wait, or to wait a while?");
        }
        if (shared && permits != null) {
            throw usage("-s and --permits are two kinds of sharing; choose one.");
        }
        if (permits != null && permits < 1) {
            throw usage("--permits must be at least 1, not " + permits + ".");
        }
        if (conflictCode < 0 || conflictCode > 255) {
            throw usage("an exit code is between 0 and 255, not " + conflictCode + ".");
        }
        if (ttl != null && ttl.isZero()) {
            throw usage("--ttl must be longer than 0.");
        }
        CommonOptions.requireShared(common.storeInUse());
    }

    private static FailedException usage(String message) {
        return new FailedException(Failure.USAGE, message + " See 'holdfast run --help'.");
    }

    private static Optional<Lease> acquire(Acquirable<Lease> lock, Patience patience) throws InterruptedException {
        Optional<Duration> left = patience.left();
        if (left.isEmpty()) {
            return Optional.of(lock.acquire());
        }
        return left.get().isZero() ? lock.tryAcquire() : lock.tryAcquire(left.get());
    }

    private Acquirable<Lease> lock(Holdfast holdfast) {
        LockOptions options = options();
        if (permits != null) {
            return holdfast.semaphore(name, permits, options);
        }
        return shared ? holdfast.readWriteLock(name, options).readLock() : holdfast.lock(name, options);
    }

    /** A lock that must stay taken for a while after the command needs a ttl of at least that. */
    private LockOptions options() {
        LockOptions options = LockOptions.defaults();
        if (ttl != null) {
            options = options.withTtl(ttl);
        }
        if (holdAtLeast != null && !holdAtLeast.isZero()) {
            options = options.withMinHold(holdAtLeast);
            if (options.ttl().compareTo(holdAtLeast) < 0) {
                options = options.withTtl(holdAtLeast);
            }
        }
        return options;
    }

    private int conflict(Holdfast holdfast) {
        if (!quiet) {
            output.fail(
                    Failure.CONFLICT,
                    "lock " + Names.inText(name) + " " + LockText.takenText(look(holdfast))
                            + ", so the command did not run. "
                            + (noWait ? "Leave out -n to wait" : "A longer -w waits longer")
                            + "; for more: " + common.line("show", name),
                    conflictCode);
        }
        return conflictCode;
    }

    /** For a message, which can do without. */
    private LockView look(Holdfast holdfast) {
        try {
            return holdfast.lock(name).inspect();
        } catch (LockException e) {
            return LockView.free(name);
        }
    }
}
