package io.holdfast.torture.worker;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Starts processes that die with this JVM, even if it is killed while they are stopped. */
public final class ChildProcesses {

    /** The kernel kills a child when the thread that forked it ends, so all are forked by one that does not. */
    private static final ExecutorService LAUNCHES = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "holdfast-torture-launcher");
        thread.setDaemon(true);
        return thread;
    });

    private static final Path SETPRIV = Path.of("/usr/bin/setpriv");

    private ChildProcesses() {}

    /** Where there is no {@code setpriv} (util-linux), they have to notice by themselves. */
    public static Process start(ProcessBuilder builder) {
        List<String> command = new ArrayList<>(builder.command());
        if (Files.isExecutable(SETPRIV)) {
            command.addAll(0, List.of(SETPRIV.toString(), "--pdeathsig", "KILL"));
        }
        builder.command(command);
        try {
            return LAUNCHES.submit(builder::start).get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while starting " + command.get(0), e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("Cannot start " + String.join(" ", command), e.getCause());
        }
    }
}
