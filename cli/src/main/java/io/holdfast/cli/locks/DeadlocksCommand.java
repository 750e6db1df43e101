package io.holdfast.cli.locks;

import io.holdfast.Deadlock;
import io.holdfast.Deadlocks;
import io.holdfast.Holdfast;
import io.holdfast.LockView;
import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.LockText;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.StoreCommand;
import io.holdfast.ui.json.JsonText;
import io.holdfast.ui.json.LockJson;
import io.holdfast.ui.watch.StandingDeadlocks;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code holdfast deadlocks}. */
@Command(
        name = "deadlocks",
        header = "Finds programs that wait for each other's locks in a circle.",
        description = {
            "Ends with 1 if there are any. They are suspected: what a store shows is a moment old, and a lock may be released"
                    + " by another thread than the one that waits. On Redlock, which lists no waiters, none are found."
        },
        footer = {"  holdfast deadlocks", "  holdfast deadlocks --json --store redis://redis.internal"})
public final class DeadlocksCommand implements Callable<Integer>, StoreCommand {

    /** As of grep and its like: something was found. */
    private static final int FOUND = 1;

    private final Output output;

    @Mixin
    private CommonOptions common = new CommonOptions();

    public DeadlocksCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        try (Holdfast holdfast = common.connect()) {
            List<Deadlock> found = find(holdfast);
            if (output.isJson()) {
                output.print(JsonText.array(found, LockJson::fields));
            } else if (found.isEmpty()) {
                output.print("No deadlock is suspected.");
            } else {
                found.forEach(this::print);
            }
            return found.isEmpty() ? 0 : FOUND;
        }
    }

    /** Looks a second time at what seems to be one, and only at that. */
    private static List<Deadlock> find(Holdfast holdfast) {
        List<Deadlock> seeming = Deadlocks.find(holdfast.locks(""));
        List<LockView> again = seeming.stream()
                .flatMap(deadlock -> deadlock.locks().stream())
                .distinct()
                .map(name -> holdfast.lock(name).inspect())
                .toList();
        return StandingDeadlocks.of(seeming, Deadlocks.find(again));
    }

    @Override
    public String attempt() {
        return "list the locks";
    }

    private void print(Deadlock deadlock) {
        output.print("Suspected deadlock, for " + LockText.age(deadlock.since()));
        for (Deadlock.Wait wait : deadlock.waits()) {
            String holds = wait.holds().stream().map(Names::inText).collect(Collectors.joining(", "));
            output.print("  " + LockText.whoInFull(wait.waiter().origin())
                    + (holds.isEmpty() ? "" : " holds " + holds + " and")
                    + " waits for " + Names.inText(wait.lock()) + ", for "
                    + LockText.age(wait.waiter().since()));
        }
    }
}
