package io.holdfast.cli.locks;

import io.holdfast.Holdfast;
import io.holdfast.LockView;
import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.LockText;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.StoreCommand;
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
        footer = {"  holdfast show nightly", "  holdfast release nightly --force"},
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the lock is free: taken away, or it was free before",
            "64:the lock is held and --force is missing, or other wrong usage",
            "69:the store cannot be reached",
            "70:internal error"
        })
public final class ReleaseCommand implements Callable<Integer>, StoreCommand {

    private final Output output;

    @Mixin
    private CommonOptions common = new CommonOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock.")
    private String name = "";

    @Option(names = "--force", description = "Needed: says that you know what this does.")
    private boolean force;

    public ReleaseCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        try (Holdfast holdfast = common.connect()) {
            LockView before = holdfast.lock(name).inspect();
            if (before.isHeld() && !force) {
                throw new FailedException(Failure.USAGE, refusal(before));
            }
            // Also if it looked free: somebody may have taken it meanwhile.
            int holders = force ? holdfast.administration().forceRelease(name) : 0;
            if (output.isJson()) {
                output.printJson(json -> json.text("name", name).number("released", holders));
            } else {
                output.print(Names.inText(name) + outcome(holders, before));
            }
            return 0;
        }
    }

    @Override
    public String attempt() {
        return "release lock " + Names.inText(name);
    }

    @Override
    public String consequence() {
        return force ? "To see whether it is still held: " + common.line("show", name) : "";
    }

    private static String outcome(int holders, LockView before) {
        if (before.isHeld() && before.holders().stream().allMatch(LockView.Holder::isLingering)) {
            return " is free; its holder had already released it.";
        }
        if (holders > 0) {
            return " taken from " + holders + (holders == 1 ? " holder." : " holders.");
        }
        return before.isHeld()
                ? " is free; its holder has released it meanwhile."
                : " was free: there was nothing to release.";
    }

    private String refusal(LockView view) {
        LockView.Holder holder = view.holders().get(0);
        String state = holder.isLingering()
                ? " is taken: " + LockText.lingeringText(holder) + ". To free it now: "
                : " is held by " + LockText.whoInFull(holder.origin())
                        + (holder.origin().isPresent() ? ", which may be at work." : " and may be at work.")
                        + " Stop it there if you can; to take the lock away all the same: ";
        return "lock " + Names.inText(name) + state + common.line("release --force", name);
    }
}
