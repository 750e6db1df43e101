package io.holdfast.servers.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The processes of one server while they are stopped, noted in a file for the guard (see the essay in {@link Launcher}). */
public final class PausedProcesses {

    private final Path file;
    private volatile List<Long> pids = List.of();

    public PausedProcesses(Path serverDirectory) {
        file = serverDirectory.resolve("paused");
    }

    public boolean any() {
        return !pids.isEmpty();
    }

    /** Stops a process and its children. */
    public void stop(ProcessHandle process) {
        // The main process first: once it is stopped, it forks no more children.
        List<Long> all = new ArrayList<>(List.of(process.pid()));
        freeze(all);
        List<Long> children = ProcessTree.descendants(process);
        if (!children.isEmpty()) {
            all.addAll(children);
            freeze(all);
        }
        pids = all;
    }

    /** Lets them run on. */
    public void resume() {
        ProcessTree.signal("CONT", pids);
        forget();
    }

    /** They have ended. */
    public void forget() {
        pids = List.of();
        file.toFile().delete();
    }

    /** Notes them first: this JVM may be killed any time, and who is stopped and not noted would stay for ever. */
    private void freeze(List<Long> all) {
        try {
            Files.writeString(file, all.stream().map(String::valueOf).collect(Collectors.joining(" ", "", "\n")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        ProcessTree.signal("STOP", all);
        ProcessTree.awaitStopped(all);
    }
}
