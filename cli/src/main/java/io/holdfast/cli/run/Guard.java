package io.holdfast.cli.run;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;

/** A small process that ends the command if holdfast is killed. */
final class Guard implements AutoCloseable {

    /*
     * Not outliving holdfast.
     *
     * A JVM that is killed with -9 runs no shutdown hook, and the lock is free at once or a ttl later: the command must be
     * gone by then, with everything it started. Three means, because each has a hole.
     *
     * 1. PR_SET_PDEATHSIG (by setpriv): the kernel kills the command in the instant its parent dies. But "parent" is the
     *    thread that started it (hence the main thread, which waits for it), the setting does not reach the command's own
     *    children, and if holdfast dies between fork and prctl it is never sent.
     * 2. The guard: a shell that reads from a pipe only holdfast holds open. When the pipe ends without a word, it kills
     *    every process that carries the marker of this run in its environment. A process group would be the textbook
     *    answer, but a command in a group of its own could not read from the terminal, and Ctrl-C would miss it. The
     *    marker is inherited by whatever the command starts and needs neither.
     * 3. The pid of the command, told to the guard, for systems without /proc.
     *
     * What runs as another user (sudo) is beyond all three: its environment cannot be read, nor it be killed.
     *
     * The guard ignores the signals that people and supervisors send to whole process groups, and starts without the
     * marker of an outer holdfast, so that an outer one that clears up does not disarm the inner one.
     */
    private static final String SCRIPT = script();

    private final Process process;
    private final BufferedWriter words;
    private final String marker;
    private final boolean kernelKills;

    private Guard(Process process, String marker) throws IOException {
        this.process = process;
        this.marker = marker;
        this.words = process.outputWriter(StandardCharsets.US_ASCII);
        BufferedReader answer = process.inputReader(StandardCharsets.US_ASCII);
        String line = answer.readLine();
        if (line == null) {
            throw new IOException("the guard process, sh, did not start");
        }
        this.kernelKills = line.equals("kernel");
    }

    static Guard start() throws IOException {
        // Unique on this machine: no process of this id started twice at the same moment. The dot ends it, so that no
        // marker is the beginning of another.
        String marker = ProcessHandle.current().pid() + "-" + System.nanoTime() + ".";
        ProcessBuilder builder = new ProcessBuilder(
                        "sh", "-c", SCRIPT, "holdfast-guard", RunFamily.VARIABLE + "=" + marker)
                .directory(new File("/"))
                .redirectError(ProcessBuilder.Redirect.DISCARD);
        Map<String, String> environment = builder.environment();
        environment.keySet().removeIf(variable -> !variable.equals("PATH"));
        return new Guard(builder.start(), marker);
    }

    /** What marks the processes this guard looks after. */
    String marker() {
        return marker;
    }

    /** Whether setpriv can make the kernel end a process with its parent. */
    boolean kernelKills() {
        return kernelKills;
    }

    void watch(long pid) throws IOException {
        say(Long.toString(pid));
    }

    /** The command has ended: what it left in the background may live on. */
    void dismiss() throws IOException {
        say("done");
    }

    private void say(String word) throws IOException {
        words.write(word);
        words.newLine();
        words.flush();
    }

    /** Without {@link #dismiss} before, this lets the guard end what still runs. */
    @Override
    public void close() {
        try {
            words.close();
        } catch (IOException e) {
            process.destroyForcibly();
        }
    }

    private static String script() {
        try (InputStream resource = Objects.requireNonNull(Guard.class.getResourceAsStream("guard.sh"))) {
            return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException("The jar of holdfast is damaged", e);
        }
    }
}
