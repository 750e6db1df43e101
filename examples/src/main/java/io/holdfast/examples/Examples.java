package io.holdfast.examples;

import io.holdfast.Holdfast;
import io.holdfast.LockException;
import io.holdfast.examples.sql.SellOut;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;

/** What {@code ./example} starts: finds an example by its name, says what to watch, and runs it. */
public final class Examples {

    /** The program of an example. */
    @FunctionalInterface
    private interface Program {
        void main(String[] arguments) throws Exception;
    }

    private record Example(String name, String about, String watch, Program program) {}

    private static final List<Example> ALL = List.of(
            new Example(
                    "oversold-stock",
                    "50 buyers, 10 pieces",
                    "Without a lock more is sold than there is, since everybody reads before anybody has written."
                            + " With it, never.",
                    OversoldStock::main),
            new Example(
                    "order-grabbing",
                    "three drivers grab one order",
                    "One drives, the others are told at once that they are too late: nobody waits.",
                    OrderGrabbing::main),
            new Example(
                    "job-that-runs-once",
                    "a nightly job that every instance starts",
                    "Start it twice within a minute: the second one skips the job, though the first has long ended"
                            + " (minHold).",
                    JobThatRunsOnce::main),
            new Example(
                    "duplicate-message",
                    "a message that is delivered three times",
                    "The token in the receipt: it was paid once, and later deliveries got the same receipt.",
                    DuplicateMessage::main),
            new Example(
                    "sell-out",
                    "stock in a database: lease lock and fence, transaction lock, version guard",
                    "Needs --store jdbc:postgresql://… or jdbc:mariadb://…. All three sell exactly what there is; compare"
                            + " their times.",
                    SellOut::main),
            new Example(
                    "polling-against-watching",
                    "the experiment: who waits asks again and again, or is told; with plots",
                    "Takes about a minute. With few clients polling keeps up; with many it starves some, and its longest"
                            + " wait grows. The page it writes shows it.",
                    PollingAgainstWatching::main));

    private static final Set<String> OPTIONS = Set.of("--store", "--seconds", "--html");

    private Examples() {}

    public static void main(String[] args) throws Exception {
        if (args.length == 0 || List.of("-h", "--help").contains(args[0])) {
            System.out.println(
                    "Usage: ./example NAME [--store URI]; without a store, or HOLDFAST_STORE, on files of this machine.");
            ALL.forEach(example -> System.out.printf("  %-26s %s%n", example.name, example.about));
            return;
        }
        try {
            run(args[0], Arrays.copyOfRange(args, 1, args.length));
        } catch (IllegalArgumentException e) {
            System.err.println(e.getMessage());
            System.exit(64);
        } catch (LockException e) {
            System.err.println(e.getMessage());
            System.exit(69);
        } catch (ExecutionException e) {
            System.err.println(e.getCause().getMessage());
            System.exit(69);
        }
    }

    private static void run(String name, String... args) throws Exception {
        Example asked = ALL.stream()
                .filter(example -> example.name.equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalArgumentException("There is no example '" + name + "'; ./example lists them."));
        requireKnown(args);
        System.out.println("What to watch: " + asked.watch);
        System.out.println();
        asked.program.main(args);
    }

    /** A mistyped option must not run the example somewhere else than asked for. */
    private static void requireKnown(String... args) {
        for (int i = 0; i < args.length; i++) {
            boolean alone = OPTIONS.contains(args[i]);
            if (!alone && !OPTIONS.contains(args[i].replaceFirst("=.*", "")) || alone && i + 1 == args.length) {
                throw new IllegalArgumentException("'" + args[i] + "' is not understood. Options are --store URI and,"
                        + " of polling-against-watching, --seconds N and --html FILE.");
            }
            i += alone ? 1 : 0;
        }
    }

    /** The store of {@code --store}, else of {@code HOLDFAST_STORE}, else files of this machine. */
    public static Holdfast connect(String... args) {
        return option("--store", args).map(Holdfast::connect).orElseGet(Holdfast::connect);
    }

    /** What follows an option, if it is there. */
    public static Optional<String> option(String name, String... args) {
        int place = Arrays.asList(args).indexOf(name);
        if (place >= 0 && place + 1 < args.length) {
            return Optional.of(args[place + 1]);
        }
        return Arrays.stream(args)
                .filter(argument -> argument.startsWith(name + "="))
                .map(argument -> argument.substring(name.length() + 1))
                .findFirst();
    }
}
