package io.holdfast.cli;

import io.holdfast.cli.console.Output;
import io.holdfast.cli.locks.DeadlocksCommand;
import io.holdfast.cli.locks.ListCommand;
import io.holdfast.cli.locks.PruneCommand;
import io.holdfast.cli.locks.ReleaseCommand;
import io.holdfast.cli.locks.ShowCommand;
import io.holdfast.cli.locks.UiCommand;
import io.holdfast.cli.locks.WatchCommand;
import io.holdfast.cli.run.RunCommand;
import io.holdfast.cli.trial.BenchCommand;
import io.holdfast.cli.trial.TortureCommand;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** Puts the command line together. */
final class Commands {

    private Commands() {}

    /**
     * Builds no more than is asked for: reading the annotations of all commands would be felt at every start.
     *
     * <p>A new command is one line here, also one of another module (its class carries picocli's annotations and knows
     * nothing of this one).
     */
    static CommandLine commandLine(Main.Invocation invocation, Output output) {
        Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        commands.put("run", () -> new RunCommand(output, invocation.command()));
        commands.put("ls", () -> new ListCommand(output));
        commands.put("show", () -> new ShowCommand(output));
        commands.put("watch", () -> new WatchCommand(output));
        commands.put("release", () -> new ReleaseCommand(output));
        commands.put("prune", () -> new PruneCommand(output));
        commands.put("deadlocks", () -> new DeadlocksCommand(output));
        commands.put("ui", () -> new UiCommand(output));
        commands.put("bench", () -> new BenchCommand(output));
        commands.put("torture", () -> new TortureCommand(output));
        commands.put("completion", () -> new CompletionCommand(output, () -> assemble(commands, invocation, output)));
        String first = invocation.own().isEmpty() ? "" : invocation.own().get(0);
        Supplier<Object> asked = commands.get(first);
        return assemble(asked == null ? commands : Map.of(first, asked), invocation, output);
    }

    private static CommandLine assemble(
            Map<String, Supplier<Object>> commands, Main.Invocation invocation, Output output) {
        CommandLine commandLine = new CommandLine(new HoldfastCommand(output));
        commands.forEach((name, command) -> commandLine.addSubcommand(name, command.get()));
        Failures failures = new Failures(invocation, output);
        return commandLine
                .setExpandAtFiles(false)
                .setColorScheme(CommandLine.Help.defaultColorScheme(output.isJson() ? Ansi.OFF : Ansi.AUTO))
                .setOut(new PrintWriter(output.results(), true))
                .setErr(new PrintWriter(output.messages(), true))
                .setParameterExceptionHandler(failures)
                .setExecutionExceptionHandler(failures);
    }
}
