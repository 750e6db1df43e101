package io.holdfast.servers.process;

import io.holdfast.proxy.Uninterruptibly;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Starts processes that die with this JVM. */
public final class Launcher {

    /*
     * Dying with the parent.
     *
     * A shutdown hook is not enough: a JVM that is killed with -9, or by the OOM killer, runs none, and servers that are left
     * behind eat memory and ports until somebody looks. So the kernel does it: PR_SET_PDEATHSIG makes a process receive a
     * signal when its parent dies. Five things about it are easy to get wrong.
     *
     * 1. "Parent" means the thread that forked, not its process. A server started from a test's thread, or from a pool that
     *    shrinks, dies when that thread ends. Hence LAUNCHES: one daemon thread that forks everything and never ends.
     * 2. The setting is per process, survives exec, and is cleared by a change of credentials and in every forked child. So
     *    setpriv changes the user first and sets the signal last, and then execs: no runuser in between, which would fork and
     *    take the signal itself.
     * 3. If the JVM dies after the fork and before prctl, nobody will ever send the signal. The shell that setpriv starts
     *    therefore compares its parent with the JVM's pid: after prctl, so a parent that is still right will be noticed
     *    later, and one that is wrong is noticed now.
     * 4. Children of a server are not covered. PostgreSQL's backends notice the death of their postmaster by themselves, but
     *    not while they are stopped: a JVM that is killed while it has PostgreSQL paused would leave stopped backends for
     *    ever.
     * 5. Nor are directories covered.
     *
     * For the last two there is the guard (see Workspace): a shell that reads from a pipe which only this JVM holds open.
     * When the JVM is gone, for whatever reason, the pipe ends, and the guard kills what was noted as paused and deletes the
     * directories.
     */
    private static final ExecutorService LAUNCHES = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "holdfast-servers-launcher");
        thread.setDaemon(true);
        return thread;
    });

    /** Runs what follows, unless the JVM (given as $0) is dead already. */
    private static final String EXEC_UNLESS_ORPHANED = "[ \"$PPID\" = \"$0\" ] && exec \"$@\"";

    private static final long TOOL_TIMEOUT_SECONDS = 120;

    private Launcher() {}

    /**
     * Starts a program whose output is appended to a log file.
     *
     * @param user whom to run it as, or null for the user of this JVM
     */
    public static Process start(
            List<String> command,
            @Nullable String user,
            Map<String, String> environment,
            Path workingDirectory,
            Path log) {
        List<String> full = new ArrayList<>();
        full.add(Executables.find("setpriv", "util-linux"));
        if (user != null) {
            full.addAll(List.of("--reuid=" + user, "--regid=" + user, "--init-groups"));
        }
        full.addAll(List.of("--pdeathsig", "KILL", "sh", "-c", EXEC_UNLESS_ORPHANED));
        full.add(Long.toString(ProcessHandle.current().pid()));
        full.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(full)
                .directory(workingDirectory.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        builder.environment().putAll(environment);
        return fork(builder);
    }

    /** Runs a program to its end; throws with its output if it fails. */
    public static void run(List<String> command, @Nullable String user, Path workingDirectory) {
        Path log = null;
        try {
            log = Files.createTempFile("holdfast-", ".log");
            Process process = start(command, user, Map.of(), workingDirectory, log);
            if (!process.waitFor(TOOL_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new ServerStartException(command.get(0) + " did not end within " + TOOL_TIMEOUT_SECONDS + " s:\n"
                        + Files.readString(log));
            }
            if (process.exitValue() != 0) {
                throw new ServerStartException(String.join(" ", command) + "\nfailed with exit code "
                        + process.exitValue() + ":\n" + Files.readString(log));
            }
        } catch (IOException e) {
            throw new ServerStartException("Cannot run " + command.get(0), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ServerStartException("Interrupted while running " + command.get(0), e);
        } finally {
            if (log != null) {
                log.toFile().delete();
            }
        }
    }

    /** Forks on the one thread that lives as long as the JVM. */
    static Process fork(ProcessBuilder builder) {
        try {
            // Not to be left by an interrupt: the process would run and nobody would know it.
            return Uninterruptibly.get(LAUNCHES.submit(builder::start)::get);
        } catch (ExecutionException e) {
            throw new ServerStartException("Cannot start " + String.join(" ", builder.command()), e.getCause());
        } catch (Exception e) {
            throw new ServerStartException("Cannot start " + String.join(" ", builder.command()), e);
        }
    }
}
