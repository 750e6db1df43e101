package io.holdfast.bench.worker;

import io.holdfast.bench.BenchException;
import io.holdfast.bench.Json;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A {@link Worker} in a JVM of its own, as seen from here. Not thread-safe. */
final class WorkerProcess implements AutoCloseable {

    private final Process process;
    private final PrintStream commands;
    private final BufferedReader answers;
    private final Path log;

    private WorkerProcess(Process process, Path log) {
        this.process = process;
        this.log = log;
        this.commands = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    /** Starts it; the contender opens with {@link #call}. */
    static WorkerProcess start(List<String> classPath, Path log) {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.add("-Xmx512m");
        if (Runtime.version().feature() >= 24) {
            line.add("--enable-native-access=ALL-UNNAMED");
            line.add("--sun-misc-unsafe-memory-access=allow");
        }
        line.addAll(List.of("-cp", String.join(File.pathSeparator, classPath), Worker.class.getName()));
        try {
            Process process =
                    new ProcessBuilder(line).redirectError(log.toFile()).start();
            return new WorkerProcess(process, log);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start a worker JVM", e);
        }
    }

    /** Sends a command; {@link #answer} has its outcome. */
    void send(Map<String, ?> command) {
        commands.println(Json.write(command));
    }

    /** @throws BenchException if the worker says so, or has ended */
    Map<String, Object> answer() {
        try {
            String line = answers.readLine();
            if (line == null) {
                throw new BenchException("a worker JVM ended: " + lastWords());
            }
            Map<String, Object> answer = Json.read(line);
            if (answer.containsKey("error")) {
                throw new BenchException((String) answer.get("error"));
            }
            return answer;
        } catch (IOException e) {
            throw new BenchException("a worker JVM ended: " + e);
        }
    }

    Map<String, Object> call(Map<String, ?> command) {
        send(command);
        return answer();
    }

    /** Sends a signal by its name without SIG. */
    void signal(String name) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                    .start()
                    .waitFor();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot run kill", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String lastWords() {
        try {
            List<String> lines = Files.readAllLines(log);
            return lines.isEmpty()
                    ? "it said nothing"
                    : String.join(" / ", lines.subList(Math.max(0, lines.size() - 5), lines.size()));
        } catch (IOException e) {
            return "its log cannot be read: " + e;
        }
    }

    @Override
    public void close() {
        commands.close();
        process.destroyForcibly();
        try {
            process.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
