package io.holdfast.cli.locks;

import io.holdfast.Holdfast;
import io.holdfast.LockView;
import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.LockText;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.StoreCommand;
import io.holdfast.ui.json.LockJson;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code holdfast show}. */
@Command(
        name = "show",
        header = "Shows who holds a lock and who waits for it.",
        description = "A lock nobody uses is free: locks need not be created.",
        footer = {"  holdfast show nightly", "  holdfast show nightly --json"})
public final class ShowCommand implements Callable<Integer>, StoreCommand {

    private final Output output;

    @Mixin
    private CommonOptions common = new CommonOptions();

    @Parameters(index = "0", paramLabel = "NAME", description = "The lock.")
    private String name = "";

    public ShowCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        try (Holdfast holdfast = common.connect()) {
            LockView view = holdfast.lock(name).inspect();
            if (output.isJson()) {
                output.printJson(json -> LockJson.fields(json, view));
            } else {
                print(view);
            }
            return 0;
        }
    }

    @Override
    public String attempt() {
        return "look at lock " + Names.inText(name);
    }

    private void print(LockView view) {
        output.print(Names.inTable(view.name()) + (view.isHeld() ? "" : ": free"));
        view.holders().forEach(this::print);
        int place = 0;
        for (LockView.Waiter waiter : view.waiters()) {
            place++;
            output.print("  waiting " + place + ". " + LockText.whoInFull(waiter.origin()) + ", " + waiter.demand()
                    + LockText.forHowLong(waiter.since()));
        }
    }

    private void print(LockView.Holder holder) {
        String what = "    " + holder.demand() + LockText.token(holder);
        if (holder.isLingering()) {
            output.print("  released by "
                    + holder.origin()
                            .map(any -> LockText.whoInFull(holder.origin()))
                            .orElse("its holder"));
            output.print(what + ", kept taken for " + LockText.restText(holder));
            return;
        }
        output.print("  held by " + LockText.whoInFull(holder.origin()));
        output.print(what
                + LockText.forHowLong(holder.since())
                + holder.timeLeft()
                        .map(left -> ", expires in " + LockText.span(left) + " unless renewed")
                        .orElse(""));
    }
}
