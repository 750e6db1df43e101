package io.holdfast.cli.trial;

import io.holdfast.cli.console.Output;
import io.holdfast.torture.Campaign;
import io.holdfast.torture.cell.Cell;
import io.holdfast.torture.cell.CellResult;
import io.holdfast.torture.report.CellSummary;
import io.holdfast.torture.report.HtmlReport;
import io.holdfast.torture.report.Results;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Tells how a campaign goes: one line that changes on a terminal, and a line per cell that has ended. Thread-safe. */
final class TortureProgress implements Campaign.Listener {

    private static final int WIDTH = 110;

    private final Output output;
    private final Path directory;
    private final int total;
    private final HtmlReport report;
    private final @Nullable Results results;
    private final boolean terminal = System.console() != null;
    private final Map<String, String> running = new ConcurrentSkipListMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private int ended;

    TortureProgress(Output output, Path directory, int total, HtmlReport report, @Nullable Results results) {
        this.output = output;
        this.directory = directory;
        this.total = total;
        this.report = report;
        this.results = results;
    }

    @Override
    public void started(Cell cell) {
        at(cell, "starting");
    }

    @Override
    public void at(Cell cell, String what) {
        running.put(cell.name(), what);
        showRunning();
    }

    @Override
    public void judged(CellResult result, CellSummary summary) {
        report.add(result, summary);
        ended(result.cell(), summary);
        if (summary.isBad()) {
            say("  its history is in " + directory.resolve(result.cell().name()));
        }
    }

    @Override
    public void notRun(Cell cell, CellSummary summary) {
        ended(cell, summary);
    }

    /** Nothing runs any more. */
    void end() {
        running.clear();
        clearLine();
    }

    private void ended(Cell cell, CellSummary summary) {
        running.remove(cell.name());
        if (results != null) {
            try {
                results.put(summary);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot keep the result of " + cell.name(), e);
            }
        }
        lock.lock();
        try {
            ended++;
        } finally {
            lock.unlock();
        }
        say(output.isJson() ? Results.json(summary) : TortureVerdict.line(summary));
        showRunning();
    }

    private void say(String line) {
        clearLine();
        if (output.isJson()) {
            if (line.startsWith("{")) {
                output.print(line);
            }
        } else {
            output.print(line);
        }
    }

    private void clearLine() {
        if (terminal && !output.isJson()) {
            output.messages().print("\r\033[K");
        }
    }

    private void showRunning() {
        if (!terminal || output.isJson()) {
            return;
        }
        lock.lock();
        try {
            String all = running.entrySet().stream()
                    .map(entry -> entry.getKey() + ": " + entry.getValue())
                    .collect(Collectors.joining(" | "));
            String line = "[" + ended + "/" + total + "] " + all;
            output.messages().print("\r\033[K" + (line.length() > WIDTH ? line.substring(0, WIDTH) : line));
            output.messages().flush();
        } finally {
            lock.unlock();
        }
    }
}
