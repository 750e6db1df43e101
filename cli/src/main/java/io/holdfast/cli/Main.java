package io.holdfast.cli;

import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.Redaction;
import io.holdfast.cli.console.ResultStream;
import io.holdfast.cli.console.StderrLoggerFinder;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
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
        System.exit(run(
                new FileOutputStream(FileDescriptor.out),
                Charset.forName(System.getProperty("native.encoding")),
                System.err,
                arguments));
    }

    /** Runs one command and returns its exit code. */
    static int run(OutputStream results, Charset charset, PrintStream messages, String... arguments) {
        ResultStream stream = new ResultStream(results);
        Output output = new Output(
                new PrintStream(new BufferedOutputStream(stream), true, charset),
                messages,
                Invocation.of(arguments).own().contains("--json"),
                Redaction.of(arguments, System.getenv()));
        int exitCode = run(output, arguments);
        output.results().flush();
        Optional<String> loss = stream.loss();
        if (loss.isPresent() && exitCode == 0) {
            exitCode = Failure.INTERNAL.exitCode;
            output.fail(Failure.INTERNAL, "not all results could be written: " + loss.get() + ".", exitCode);
        }
        messages.flush();
        return exitCode;
    }

    private static int run(Output output, String... arguments) {
        Invocation invocation = Invocation.of(arguments);
        if (Arrays.stream(arguments).anyMatch(argument -> argument.indexOf(UNREADABLE) >= 0)) {
            // Different names would become one lock, and the command would get other words than were typed.
            output.fail(
                    Failure.USAGE,
                    "an argument cannot be read in the character set of this locale. Set LC_ALL=C.UTF-8 and try again.",
                    Failure.USAGE.exitCode);
            return Failure.USAGE.exitCode;
        }
        StderrLoggerFinder.sendWarningsTo(output);
        return execute(Commands.commandLine(invocation, output), invocation, output);
    }

    private static int execute(CommandLine commandLine, Invocation invocation, Output output) {
        List<String> own = invocation.own();
        // Asked for help, picocli would overlook that there is no such command.
        boolean isUnknown = !own.isEmpty()
                && !own.get(0).startsWith("-")
                && !commandLine.getSubcommands().containsKey(own.get(0));
        try {
            return commandLine.execute((isUnknown ? own.subList(0, 1) : own).toArray(String[]::new));
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
