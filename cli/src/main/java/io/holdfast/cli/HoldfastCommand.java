package io.holdfast.cli;

import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.HelpOption;
import io.holdfast.cli.console.Output;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code holdfast} with no command: explains itself. */
@Command(
        name = "holdfast",
        header = "Runs a command while holding a lock, so that it never runs twice at the same time.",
        description = {
            "",
            "Processes, containers or machines that use the same store and the same lock name wait for each other."
                    + " With no store given, locks are files of this machine: nothing to install, nothing to start.",
            ""
        },
        synopsisHeading = "%nUsage: ",
        customSynopsis = "holdfast COMMAND [OPTIONS] [ARGUMENTS]",
        commandListHeading = "%nCommands:%n",
        footer = {
            "  holdfast run nightly -- ./report.sh         wait for the lock, then run",
            "  holdfast run -n nightly -- ./report.sh      or give up at once if it is taken",
            "  holdfast ls                                 who holds what",
            "  HOLDFAST_STORE=redis://redis.internal:6379 holdfast run deploy -- ./deploy.sh",
            "",
            "'holdfast COMMAND --help' explains a command."
        },
        versionProvider = HoldfastCommand.Version.class)
final class HoldfastCommand implements Callable<Integer> {

    private final Output output;

    @Spec
    private CommandSpec spec;

    @Mixin
    private HelpOption help = new HelpOption();

    @Option(
            names = {"-V", "--version"},
            versionHelp = true,
            description = "Show the version.")
    private boolean version;

    HoldfastCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(output.messages());
        return Failure.USAGE.exitCode;
    }

    /** The version in the manifest of the jar. */
    static final class Version implements IVersionProvider {

        @Override
        public String[] getVersion() {
            @Nullable String version = Main.class.getPackage().getImplementationVersion();
            return new String[] {
                "holdfast " + (version == null ? "(not packaged)" : version), "Java " + Runtime.version(),
            };
        }
    }
}
