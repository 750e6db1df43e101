package io.holdfast.cli.trial;

import io.holdfast.bench.StoreBench;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/** Shows how far a bench is: one line that changes on a terminal, a line per step elsewhere. */
final class BenchProgress implements Consumer<StoreBench.Progress> {

    private static final int WIDTH = 24;

    private final PrintStream messages;
    private final boolean terminal;

    BenchProgress(PrintStream messages) {
        this.messages = messages;
        this.terminal = messages == System.err && isTerminal();
    }

    void announce(Duration expected) {
        messages.println("holdfast: measuring, this takes about " + Math.max(1, expected.toSeconds())
                + " s; best with nothing else running");
    }

    @Override
    public void accept(StoreBench.Progress progress) {
        if (!terminal) {
            if (progress.done() < progress.all()) {
                messages.println(
                        "holdfast: " + (progress.done() + 1) + " of " + progress.all() + ", " + progress.doing());
            }
            return;
        }
        int full = progress.all() == 0 ? WIDTH : WIDTH * progress.done() / progress.all();
        messages.print("\r\033[K[" + "█".repeat(full) + "░".repeat(WIDTH - full) + "] " + progress.done() + "/"
                + progress.all() + " " + progress.doing());
        messages.flush();
    }

    void clear() {
        if (terminal) {
            messages.print("\r\033[K");
            messages.flush();
        }
    }

    /** System.console() is there without a terminal, too, in newer versions of Java. */
    private static boolean isTerminal() {
        try {
            String errors = Files.readSymbolicLink(Path.of("/proc/self/fd/2")).toString();
            return errors.startsWith("/dev/pts/") || errors.startsWith("/dev/tty");
        } catch (IOException | UnsupportedOperationException notLinux) {
            return false;
        }
    }
}
