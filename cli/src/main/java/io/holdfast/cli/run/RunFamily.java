package io.holdfast.cli.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** A command and everything it started: the processes that carry its marker in their environment. */
final class RunFamily {

    static final String VARIABLE = "HOLDFAST_RUN";

    private static final Path PROC = Path.of("/proc");
    private static final long LOOK_NANOS = Duration.ofMillis(20).toNanos();
    private static final Duration KILL_PATIENCE = Duration.ofSeconds(5);

    private final ProcessHandle command;
    private final byte[] mark;

    RunFamily(ProcessHandle command, String marker) {
        this.command = command;
        this.mark = (VARIABLE + "=" + marker).getBytes(StandardCharsets.US_ASCII);
    }

    /** TERM to all, and KILL to those that are still there after the grace time. */
    void terminate(Duration grace) {
        members().forEach(ProcessHandle::destroy);
        if (!awaitEnd(grace)) {
            long deadlineNanos = System.nanoTime() + KILL_PATIENCE.toNanos();
            List<ProcessHandle> left = members();
            while (!left.isEmpty() && System.nanoTime() - deadlineNanos < 0) {
                left.forEach(ProcessHandle::destroyForcibly);
                LockSupport.parkNanos(LOOK_NANOS);
                left = members();
            }
        }
    }

    private boolean awaitEnd(Duration patience) {
        long startNanos = System.nanoTime();
        while (!members().isEmpty()) {
            if (System.nanoTime() - startNanos >= patience.toNanos()) {
                return false;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return true;
    }

    private List<ProcessHandle> members() {
        List<ProcessHandle> members = new ArrayList<>();
        if (command.isAlive()) {
            members.add(command);
        }
        if (Files.isDirectory(PROC.resolve("self"))) {
            marked().stream().filter(handle -> !handle.equals(command)).forEach(members::add);
        } else {
            command.descendants().forEach(members::add);
        }
        return members;
    }

    private List<ProcessHandle> marked() {
        List<ProcessHandle> found = new ArrayList<>();
        try (Stream<Path> entries = Files.list(PROC)) {
            entries.filter(entry ->
                            Character.isDigit(entry.getFileName().toString().charAt(0)))
                    .filter(this::isMarked)
                    .map(entry ->
                            ProcessHandle.of(Long.parseLong(entry.getFileName().toString())))
                    .flatMap(Optional::stream)
                    .filter(ProcessHandle::isAlive)
                    .forEach(found::add);
        } catch (IOException | UncheckedIOException cannotLook) {
            // Out of file descriptors, say: those that still have their parents are found without.
            command.descendants().forEach(found::add);
        }
        return found;
    }

    private boolean isMarked(Path process) {
        try {
            byte[] environment = Files.readAllBytes(process.resolve("environ"));
            for (int start = 0; start < environment.length; ) {
                int end = start;
                while (end < environment.length && environment[end] != 0) {
                    end++;
                }
                if (Arrays.equals(environment, start, end, mark, 0, mark.length)) {
                    return true;
                }
                start = end + 1;
            }
            return false;
        } catch (IOException endedOrOfAnotherUser) {
            return false;
        }
    }
}
