package io.holdfast.cli.console;

import io.holdfast.Holdfast;
import io.holdfast.HoldfastBuilder;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What every command that talks to a store takes. */
public final class CommonOptions {

    public static final String STORE_VARIABLE = "HOLDFAST_STORE";

    /** Set for the command of {@code run} in place of the other one, which may have a password in it. */
    public static final String WITHHELD_VARIABLE = "HOLDFAST_STORE_WITHHELD";

    @Option(
            names = "--store",
            paramLabel = "URI",
            description = {
                "Where the locks live. Default: the environment variable HOLDFAST_STORE, which also keeps a password out"
                        + " of the process list; without it, files shared by the processes of this machine, in",
                // At the beginning of a line, where nothing breaks it.
                "~/.local/state/holdfast."
            })
    private @Nullable String store;

    @Mixin
    private OutputOptions outputOptions = new OutputOptions();

    /**
     * What to type to do something with that lock in the same store.
     *
     * @param verb with its options
     */
    public String line(String verb, String name) {
        return line(Optional.ofNullable(store), verb, name);
    }

    /** The same for a store of one's own choice. */
    public static String line(Optional<String> store, String verb, String name) {
        return "holdfast " + verb
                + store.map(uri -> " --store " + Names.inShell(uri)).orElse("")
                + (name.startsWith("-") ? " -- " : " ") + Names.inShell(name);
    }

    /** @throws FailedException if the locks of that store exclude nobody outside this process */
    public static void requireShared(@Nullable String store) {
        if (store != null && store.toLowerCase(Locale.ROOT).startsWith("memory:")) {
            throw new FailedException(
                    Failure.USAGE,
                    "memory: keeps locks inside one process, so it would keep nobody else out. Use file: for the"
                            + " processes of this machine, or a server such as redis://localhost:6379.");
        }
    }

    /**
     * Asks a store for a sign of life, and whether it has all it needs, before minutes are spent on one that cannot be used.
     *
     * @throws io.holdfast.LockException if it does not answer
     */
    public static void requireAnswer(String store) {
        try (Holdfast holdfast = Holdfast.connect(store)) {
            holdfast.locks("holdfast-", Optional.empty(), 1);
        }
    }

    /** The store of the option, else that of the environment, if there is one. */
    public @Nullable String storeInUse() {
        return store != null ? store : storeOfEnvironment();
    }

    /** @throws FailedException inside a {@code run} that keeps its store to itself: the default would be other locks */
    public static @Nullable String storeOfEnvironment() {
        String named = System.getenv(STORE_VARIABLE);
        if (named == null && System.getenv(WITHHELD_VARIABLE) != null) {
            throw new FailedException(
                    Failure.USAGE,
                    "this was started by 'holdfast run', which does not pass " + STORE_VARIABLE
                            + " on, and without it the locks would be others. Say --store URI, or --store file: for files"
                            + " of this machine.");
        }
        return named;
    }

    public Holdfast connect() {
        return builder().connect();
    }

    public HoldfastBuilder builder() {
        @Nullable String named = storeInUse();
        HoldfastBuilder builder = Holdfast.builder();
        return named == null ? builder : builder.store(named);
    }
}
