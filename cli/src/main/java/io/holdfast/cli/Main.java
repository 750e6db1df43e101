package io.holdfast.cli;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;

/** The {@code holdfast} command. */
public final class Main {

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
        StderrLoggerFinder.sendWarningsTo(output);
        CommandLine commandLine = Commands.commandLine(invocation, output);
        int exitCode = commandLine.execute(invocation.own().toArray(String[]::new));
        results.flush();
        messages.flush();
        return exitCode;
    }

    /**
     * The arguments, split at the first {@code --} of {@code run}: what follows is a stranger's command line, and an
     * option in it must never be taken for ours.
     *
     * @param own what is for holdfast
     * @param command what to run
     */
    record Invocation(List<String> own, List<String> command) {

        static Invocation of(String... arguments) {
            List<String> all = List.copyOf(Arrays.asList(arguments));
            int split = all.indexOf("--");
            if (split < 0 || !all.get(0).equals("run")) {
                return new Invocation(all, List.of());
            }
            return new Invocation(all.subList(0, split), all.subList(split + 1, all.size()));
        }
    }
}
