package io.holdfast.cli.locks;

import io.holdfast.Holdfast;
import io.holdfast.LockView;
import io.holdfast.cli.console.CommonOptions;
import io.holdfast.cli.console.LockText;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;
import io.holdfast.cli.console.StoreCommand;
import io.holdfast.ui.json.JsonText;
import io.holdfast.ui.json.LockJson;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code holdfast ls}. */
@Command(
        name = "ls",
        header = "Lists the locks that are held or waited for.",
        footer = {"  holdfast ls", "  holdfast ls stock/ --json"})
public final class ListCommand implements Callable<Integer>, StoreCommand {

    /** A longer name pushes only its own row out of line. */
    private static final int WIDEST_NAME = 40;

    private final Output output;

    @Mixin
    private CommonOptions common = new CommonOptions();

    @Mixin
    private PrefixArgument prefix = new PrefixArgument();

    public ListCommand(Output output) {
        this.output = output;
    }

    @Override
    public Integer call() {
        try (Holdfast holdfast = common.connect()) {
            List<LockView> locks = holdfast.locks(prefix.text()).stream()
                    .filter(view -> view.isHeld() || !view.waiters().isEmpty())
                    .toList();
            if (output.isJson()) {
                output.print(JsonText.array(locks, LockJson::fields));
            } else {
                print(locks);
            }
            return 0;
        }
    }

    @Override
    public String attempt() {
        return "list the locks";
    }

    private void print(List<LockView> locks) {
        if (locks.isEmpty()) {
            output.print(
                    prefix.text().isEmpty()
                            ? "No lock is held."
                            : "No lock that begins with " + Names.inText(prefix.text()) + " is held.");
            return;
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("NAME", "HOLDER", "HOW", "TOKEN", "HELD", "LEFT", "WAITING"));
        for (LockView lock : locks) {
            String name = Names.inTable(lock.name());
            String waiting = Integer.toString(lock.waiters().size());
            if (lock.holders().isEmpty()) {
                rows.add(List.of(name, "-", "-", "-", "-", "-", waiting));
            }
            for (LockView.Holder holder : lock.holders()) {
                rows.add(List.of(
                        name,
                        LockText.who(holder),
                        holder.demand().toString(),
                        holder.token().map(token -> Long.toString(token)).orElse("-"),
                        LockText.age(holder.since()),
                        holder.timeLeft().map(LockText::span).orElse("-"),
                        waiting));
            }
        }
        printAligned(rows);
    }

    private void printAligned(List<List<String>> rows) {
        int[] widths = new int[rows.get(0).size()];
        rows.forEach(row -> {
            for (int i = 0; i < widths.length; i++) {
                int width = Names.width(row.get(i));
                widths[i] = Math.max(widths[i], i == 0 && width > WIDEST_NAME ? 0 : width);
            }
        });
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                int missing = Math.max(0, widths[i] - Names.width(row.get(i)));
                line.append(row.get(i)).append(" ".repeat(missing + 2));
            }
            output.print(line.toString().stripTrailing());
        }
    }
}
