package io.holdfast.cli.locks;

import picocli.CommandLine.Parameters;

/** Which locks a command is about. */
final class PrefixArgument {

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "PREFIX",
            defaultValue = "",
            description = "Only locks whose names begin with this.")
    private String text = "";

    String text() {
        return text;
    }
}
