package io.holdfast.torture.worker;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/** A worker in a JVM of its own, as its parent sees it. Thread-safe. */
public final class WorkerProcess {

    /** The launcher's archive of classes: with it a worker costs a tenth less. */
    private static final List<String> ARCHIVE = ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("-XX:SharedArchiveFile="))
            .toList();

    private final String name;
    private final Process process;
    private final Path log;
    private final Map<String, String> states = new ConcurrentHashMap<>();

    private WorkerProcess(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
        Thread listener = new Thread(this::listen, "holdfast-torture-" + name);
        listener.setDaemon(true);
        listener.start();
    }

    /** Starts a worker; its log lies beside its history. */
    public static WorkerProcess start(WorkerSettings settings, String storeUri, Map<String, String> environment) {
        Path log = settings.history().resolveSibling(settings.process() + ".log");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx64m", "-Xss512k", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"));
        command.add("-XX:-UsePerfData");
        command.addAll(ARCHIVE);
        command.addAll(List.of("-cp", absoluteClassPath(), Worker.class.getName()));
        command.addAll(settings.arguments());
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
        builder.environment().putAll(environment);
        builder.environment().put(WorkerSettings.STORE_VARIABLE, storeUri);
        return new WorkerProcess(settings.process(), ChildProcesses.start(builder), log);
    }

    public String name() {
        return name;
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Whether a thread of it holds a lock, as far as it has said. */
    public boolean isHolding() {
        return isAlive() && states.containsValue("holds");
    }

    /** Whether a thread of it waits for one. */
    public boolean isWaiting() {
        return isAlive() && states.containsValue("waits");
    }

    /** Whether it has said anything yet. */
    public boolean hasBegun() {
        return !states.isEmpty();
    }

    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** SIGSTOP: it stays where it is. */
    public void pause() throws IOException, InterruptedException {
        signal("STOP");
    }

    public void resume() throws IOException, InterruptedException {
        signal("CONT");
    }

    /** Asks it to finish what it does and end. */
    public void requestStop() {
        order(Worker.STOP);
    }

    /** Makes the executor of its client behave like this. */
    public void conductExecutor(UsersExecutor.Conduct conduct) {
        order(conduct.word());
    }

    private void order(String order) {
        try {
            OutputStream orders = process.getOutputStream();
            orders.write((order + "\n").getBytes(StandardCharsets.US_ASCII));
            orders.flush();
        } catch (IOException ended) {
            // There is nobody left to obey.
        }
    }

    /** Returns whether it has ended in time. */
    public boolean awaitEnd(Duration patience) throws InterruptedException {
        return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** How it ended; 0 if as asked, 137 if it was killed. */
    public int exitCode() {
        return process.exitValue();
    }

    /** What it wrote to standard error: nothing, if all is well. */
    public String log() {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return "cannot read " + log + ": " + e;
        }
    }

    private void signal(String signal) throws IOException, InterruptedException {
        if (process.isAlive()) {
            new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                    .redirectErrorStream(true)
                    .start()
                    .waitFor();
        }
    }

    private void listen() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
            String line;
            while ((line = lines.readLine()) != null) {
                int space = line.indexOf(' ');
                if (space > 0) {
                    states.put(line.substring(0, space), line.substring(space + 1));
                }
            }
        } catch (IOException ended) {
            // Killed.
        }
    }

    /** The class path of this JVM, wherever the worker is started from. */
    private static String absoluteClassPath() {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            entries.add(Path.of(entry).toAbsolutePath().toString());
        }
        return String.join(File.pathSeparator, entries);
    }
}
