package io.holdfast.cli;

import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.OutputOptions;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code holdfast completion}. */
@Command(
        name = "completion",
        header = "Prints a script that completes holdfast commands with the Tab key in bash and zsh.",
        footer = {
            "  source <(holdfast completion)                            for this shell",
            "  holdfast completion > /etc/bash_completion.d/holdfast    for everybody"
        })
final class CompletionCommand implements Callable<Integer> {

    private final Output output;
    private final Supplier<CommandLine> all;

    @Parameters(arity = "0..1", paramLabel = "SHELL", description = "bash or zsh: the script is the same.")
    private String shell = "";

    @Mixin
    private OutputOptions outputOptions = new OutputOptions();

    CompletionCommand(Output output, Supplier<CommandLine> all) {
        this.output = output;
        this.all = all;
    }

    @Override
    public Integer call() {
        if (!List.of("", "bash", "zsh").contains(shell)) {
            throw new FailedException(
                    Failure.USAGE, "there is a script for bash and zsh, none for " + Names.inText(shell) + ".");
        }
        String script = AutoComplete.bash("holdfast", all.get());
        if (output.isJson()) {
            output.printJson(line -> line.text("script", script));
        } else {
            output.print(script);
        }
        return 0;
    }
}
