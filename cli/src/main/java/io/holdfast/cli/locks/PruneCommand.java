package io.holdfast.cli.locks;

import io.holdfast.Holdfast;
import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.DurationConverter;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.StoreCommand;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code holdfast prune}. */
@Command(
        name = "prune",
        header = "Removes what long unused locks left in the store.",
        description = {
            "A lock that was used once leaves its fencing counter behind. Locks that are held or waited for are never"
                    + " touched. Choose a time longer than any stale holder may go on writing with an old token."
        },
        footer = {"  holdfast prune 30d"})
public final class PruneCommand implements Callable<Integer>, StoreCommand {

    private final Output output;

    @Mixin
    private CommonOptions common = new CommonOptions();

    @Parameters(
            index = "0",
            paramLabel = "AGE",
            converter = DurationConverter.class,
            description = "How long a lock must have been unused, such as 12h or 30d.")
    private Duration age = Duration.ZERO;

    public PruneCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        try (Holdfast holdfast = common.connect()) {
            int removed = holdfast.administration().prune(age);
            if (output.isJson()) {
                output.printJson(json -> json.number("removed", removed));
            } else {
                output.print(removed == 1 ? "Removed 1 unused lock." : "Removed " + removed + " unused locks.");
            }
            return 0;
        }
    }

    @Override
    public String attempt() {
        return "remove unused locks";
    }
}
