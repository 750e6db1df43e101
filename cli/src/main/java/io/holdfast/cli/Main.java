package io.holdfast.cli;

import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.Redaction;
import io.holdfast.cli.console.StderrLoggerFinder;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;

/** The {@code holdfast} command. */
public final class Main {

    /** What Java puts in the place of bytes it cannot decode. */
    private static final char UNREADABLE = '\uFFFD';

    private Main() {}

    public static void main(String[] arguments) {
        // Client libraries that log through java.util.logging; read only if one does.
        System.setProperty("java.util.logging.config.class", SilentLogging.class.getName());
        System.exit(run(System.out, System.err, arguments));
    }

    /** Runs one command and returns its exit code. */
    static int run(PrintStream results, PrintStream messages, String... arguments) {
        Invocation invocation = Invocation.of(arguments);
        Output output = new Output(
                results, messages, invocation.own().contains("--json"), Redaction.of(arguments, System.getenv()));
        if (Arrays.stream(arguments).anyMatch(argument -> argument.indexOf(UNREADABLE) >= 0)) {
            // Different names would become one lock, and the command would get other words than were typed.
            output.fail(
                    Failure.USAGE,
                    "an argument cannot be read in the character set of this locale. Set LC_ALL=C.UTF-8 and try again.",
                    Failure.USAGE.exitCode);
            return Failure.USAGE.exitCode;
        }
        StderrLoggerFinder.sendWarningsTo(output);
        CommandLine commandLine = Commands.commandLine(invocation, output);
        int exitCode = execute(commandLine, invocation, output);
        results.flush();
        messages.flush();
        return exitCode;
    }

    private static int execute(CommandLine commandLine, Invocation invocation, Output output) {
        try {
            return commandLine.execute(invocation.own().toArray(String[]::new));
        } catch (Error e) {
            // Java would end with 1, which says that somebody else holds the lock.
            output.fail(Failure.INTERNAL, "internal error: " + e + ".", Failure.INTERNAL.exitCode);
            return Failure.INTERNAL.exitCode;
        }
    }

    /**
     * The arguments, split at the first {@code --} of {@code run}: what follows is a stranger's command line, and an
     * option in it must never be taken for ours.
     *
     * @param own what is for holdfast
     * @param command what to run
     */
    record Invocation(List<String> own, List<String> command) {

        /** {@code help run} and {@code version}, as other commands have them, are {@code run --help} and {@code --version}. */
        private static List<String> inUsualOrder(String... arguments) {
            List<String> all = List.copyOf(Arrays.asList(arguments));
            if (all.equals(List.of("version"))) {
                return List.of("--version");
            }
            boolean help = !all.isEmpty() && all.size() <= 2 && all.get(0).equals("help");
            return help
                    ? Stream.concat(all.stream().skip(1), Stream.of("--help")).toList()
                    : all;
        }

        static Invocation of(String... arguments) {
            List<String> all = inUsualOrder(arguments);
            int split = all.indexOf("--");
            if (split < 0 || !all.get(0).equals("run")) {
                return new Invocation(all, List.of());
            }
            return new Invocation(all.subList(0, split), all.subList(split + 1, all.size()));
        }
    }
}
