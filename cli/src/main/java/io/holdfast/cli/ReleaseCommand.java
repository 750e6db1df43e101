package io.holdfast.cli;

import io.holdfast.Holdfast;
import io.holdfast.LockView;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast release}. */
@Command(
        name = "release",
        header = "Takes a lock away from whoever holds it.",
        description = {
            "For emergencies. The holder is told, but may still be at work when the next one gets the lock: only what"
                    + " checks fencing tokens is safe from both. A holder that died frees its lock by itself when its"
                    + " ttl has passed; 'holdfast show NAME' tells how long that is."
        },
        optionListHeading = "%nOptions:%n",
        parameterListHeading = "%nArguments:%n",
        footerHeading = "%nExamples:%n",
        footer = {"  holdfast show nightly", "  holdfast release nightly --force"},
        exitCodeOnInvalidInput = 64,
        exitCodeOnExecutionException = 70)
final class ReleaseCommand implements Callable<Integer> {

    private final Output output;

    @Mixin
    private CommonOptions common = new CommonOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock.")
    private String name = "";

    @Option(names = "--force", description = "Needed: says that you know what this does.")
    private boolean force;

    ReleaseCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        try (Holdfast holdfast = common.connect()) {
            if (!force) {
                throw new FailedException(
                        Failure.USAGE, refusal(holdfast.lock(name).inspect()));
            }
            int holders = holdfast.administration().forceRelease(name);
            if (output.isJson()) {
                output.printJson(json -> json.text("name", name).number("released", holders));
            } else {
                output.print(
                        holders == 0
                                ? "'" + name + "' was free."
                                : "'" + name + "' taken from " + holders + (holders == 1 ? " holder." : " holders."));
            }
            return 0;
        }
    }

    private String refusal(LockView view) {
        if (!view.isHeld()) {
            return "lock '" + name + "' is free; there is nothing to release.";
        }
        return "lock '" + name + "' is held by "
                + LockText.whoInFull(view.holders().get(0).origin())
                + ", which may be at work. Stop it there if you can; to take the lock away all the same, add --force.";
    }
}
