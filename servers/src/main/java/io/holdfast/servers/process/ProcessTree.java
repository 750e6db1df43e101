package io.holdfast.servers.process;

import io.holdfast.proxy.Uninterruptibly;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Signals to a server's process and its children, and what the kernel says of them. */
public final class ProcessTree {

    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final long POLL_NANOS = 200_000;

    private ProcessTree() {}

    /** The children of a process, theirs, and so on; PostgreSQL serves every connection in one. */
    public static List<Long> descendants(ProcessHandle process) {
        try (Stream<ProcessHandle> descendants = process.descendants()) {
            return descendants.map(ProcessHandle::pid).toList();
        }
    }

    /** Kills a process and its children; returns the children. */
    public static List<Long> kill(Process process) {
        // Stopped first, so that it makes no more of them while we look.
        if (process.isAlive()) {
            signal("STOP", List.of(process.pid()));
        }
        List<Long> children = descendants(process.toHandle());
        process.destroyForcibly();
        signal("KILL", children);
        return children;
    }

    /** Sends a signal to those of the processes that still exist. */
    public static void signal(String signal, Collection<Long> pids) {
        if (pids.isEmpty()) {
            return;
        }
        String targets = pids.stream().map(String::valueOf).collect(Collectors.joining(" "));
        try {
            // The exit code says whether all of them existed; some may be gone by now, which is fine.
            Uninterruptibly.awaitEnd(new ProcessBuilder("sh", "-c", "kill -" + signal + " " + targets)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start());
        } catch (IOException e) {
            throw new IllegalStateException("Cannot send " + signal + " to " + targets, e);
        }
    }

    /** Waits until every thread of every process has stopped; a signal that was sent is not yet one that has worked. */
    static void awaitStopped(Collection<Long> pids) {
        await("stop", pids, pid -> isGone(pid) || isStopped(pid));
    }

    public static void awaitGone(Collection<Long> pids) {
        await("end", pids, ProcessTree::isGone);
    }

    /** Whether a process has ended; a zombie has. */
    public static boolean isGone(long pid) {
        return "ZX".indexOf(state(Path.of("/proc/" + pid))) >= 0;
    }

    private static boolean isStopped(long pid) {
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
            for (Path thread : threads) {
                if ("TZX".indexOf(state(thread)) < 0) {
                    return false;
                }
            }
            return true;
        } catch (IOException ended) {
            return true;
        }
    }

    /** The kernel's letter for the state of a process or thread, {@code X} if there is none. */
    private static char state(Path procEntry) {
        try {
            String stat = Files.readString(procEntry.resolve("stat"));
            return stat.charAt(stat.lastIndexOf(')') + 2);
        } catch (IOException ended) {
            return 'X';
        }
    }

    private static void await(String what, Collection<Long> pids, LongPredicate reached) {

        long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
        while (!pids.stream().allMatch(reached::test)) {
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new IllegalStateException("Processes " + pids + " did not " + what + " within " + PATIENCE);
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
