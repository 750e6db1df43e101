package io.holdfast.cli.console;

import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What nearly every command takes; {@link Output} and picocli see to it. */
public final class OutputOptions {

    @Option(names = "--json", description = "Write JSON.")
    private boolean json;

    @Mixin
    private HelpOption help = new HelpOption();
}
