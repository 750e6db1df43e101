package io.holdfast.cli.locks;

import io.holdfast.Holdfast;
import io.holdfast.LockView;
import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.DurationConverter;
import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.LockText;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.StoreCommand;
import io.holdfast.ui.json.LockJson;
import java.time.Duration;
import java.time.LocalTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast watch}. */
@Command(
        name = "watch",
        header = "Prints a line whenever a lock is taken, freed or waited for, until interrupted.",
        description = {
            "Looks at the store every so often, so a lock that comes and goes in between is not seen. With --json each"
                    + " line is one object: {\"event\": \"held\", \"freed\" or \"waiting\", ...}."
        },
        footer = {"  holdfast watch", "  holdfast watch stock/ --interval 200ms --json"})
public final class WatchCommand implements Callable<Integer>, StoreCommand {

    private final Output output;

    @Mixin
    private CommonOptions common = new CommonOptions();

    @Mixin
    private PrefixArgument prefix = new PrefixArgument();

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "1s",
            converter = DurationConverter.class,
            description = "How often to look. Default: 1s.")
    private Duration interval = Duration.ofSeconds(1);

    @Option(
            names = "--for",
            paramLabel = "TIME",
            converter = DurationConverter.class,
            description = "End after this long. Default: never.")
    private @Nullable Duration limit;

    public WatchCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() throws InterruptedException {
        if (interval.isZero()) {
            throw new FailedException(Failure.USAGE, "--interval must be longer than 0.");
        }
        long startNanos = System.nanoTime();
        Map<String, LockView> known = Map.of();
        try (Holdfast holdfast = common.connect()) {
            while (true) {
                Map<String, LockView> seen = new HashMap<>();
                holdfast.locks(prefix.text()).forEach(view -> seen.put(view.name(), view));
                Set<String> names = new HashSet<>(known.keySet());
                names.addAll(seen.keySet());
                for (String name : names.stream().sorted().toList()) {
                    LockView free = LockView.free(name);
                    report(known.getOrDefault(name, free), seen.getOrDefault(name, free));
                }
                known = seen;
                if (output.isReaderGone() || isOver(startNanos)) {
                    return 0;
                }
                TimeUnit.NANOSECONDS.sleep(interval.toNanos());
            }
        }
    }

    @Override
    public String attempt() {
        return "list the locks";
    }

    private boolean isOver(long startNanos) {
        return limit != null && System.nanoTime() - startNanos >= limit.toNanos();
    }

    private void report(LockView before, LockView after) {
        List<LockView.Holder> gone = new ArrayList<>(before.holders());
        gone.removeIf(holder -> hasToken(after, holder.token()));
        gone.forEach(holder -> tell("freed", after.name(), holder));
        for (LockView.Holder holder : after.holders()) {
            if (!hasToken(before, holder.token())) {
                tell("held", after.name(), holder);
            }
        }
        if (before.waiters().size() != after.waiters().size()) {
            tellWaiting(after);
        }
    }

    private static boolean hasToken(LockView view, Optional<Long> token) {
        return view.holders().stream().anyMatch(holder -> holder.token().equals(token));
    }

    private void tell(String event, String name, LockView.Holder holder) {
        if (output.isJson()) {
            output.printJson(json -> {
                json.text("event", event).text("name", name);
                LockJson.fields(json, holder);
            });
        } else {
            output.print(now() + "  " + Names.inTable(name) + "  " + event + " by " + LockText.who(holder) + ", "
                    + holder.demand() + LockText.token(holder));
        }
    }

    private void tellWaiting(LockView view) {
        int waiters = view.waiters().size();
        if (output.isJson()) {
            output.printJson(json ->
                    json.text("event", "waiting").text("name", view.name()).number("waiters", waiters));
        } else {
            output.print(now() + "  " + Names.inTable(view.name()) + "  " + waiters + " waiting");
        }
    }

    private static String now() {
        return LocalTime.now().truncatedTo(ChronoUnit.SECONDS).toString();
    }
}
