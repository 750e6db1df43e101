package io.holdfast.cli;

import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** What every command that talks to a store takes. */
final class CommonOptions {

    static final String STORE_VARIABLE = "HOLDFAST_STORE";

    @Option(
            names = "--store",
            paramLabel = "URI",
            description = {
                "Where the locks live. Default: the environment variable HOLDFAST_STORE, which also keeps a password out"
                        + " of the process list; without it, files in ~/.local/state/holdfast, shared by the processes"
                        + " of this machine."
            })
    @Nullable
    String store;

    @Option(names = "--json", description = "Write JSON.")
    boolean json;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    boolean help;

    Holdfast connect() {
        return builder().connect();
    }

    HoldfastBuilder builder() {
        HoldfastBuilder builder = Holdfast.builder();
        return store == null ? builder : builder.store(store);
    }
}
