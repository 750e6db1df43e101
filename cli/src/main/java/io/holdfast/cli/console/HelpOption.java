package io.holdfast.cli.console;

import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** How every command explains itself. */
@Command(optionListHeading = "%nOptions:%n", parameterListHeading = "%nArguments:%n", footerHeading = "%nExamples:%n")
public final class HelpOption {

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    private boolean help;
}
