package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A {@code holdfast} in a process of its own, from the classes under test. */
final class HoldfastProcess implements AutoCloseable {

    /** For what happens at once on an idle machine: on a busy one a JVM may take half a minute to start. */
    static final Duration PATIENCE = Duration.ofMinutes(5);

    private final Process process;
    private final Path out;
    private final Path err;

    private HoldfastProcess(Process process, Path out, Path err) {
        this.process = process;
        this.out = out;
        this.err = err;
    }

    /** Starts it in a directory, with its locks in there too. */
    static HoldfastProcess start(Path directory, String... arguments) {
        return start(directory, Map.of("HOLDFAST_STORE", "file:" + directory.resolve("locks")), arguments);
    }

    static HoldfastProcess start(Path directory, Map<String, String> environment, String... arguments) {
        return start(directory, temporaryFile(directory, "err"), environment, arguments);
    }

    /** @param err where its messages go */
    static HoldfastProcess start(Path directory, Path err, Map<String, String> environment, String... arguments) {
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xmx128m"));
        if (Runtime.version().feature() >= 24) {
            // As the launcher does: client libraries do what these versions warn of.
            line.addAll(List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        }
        line.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        line.addAll(List.of(arguments));
        try {
            Path out = temporaryFile(directory, "out");
            // Whoever runs the tests may ignore signals, as nohup does, and a child would inherit that. And in the
            // foreground of their terminal, an interrupt would count as typed there.
            line.addAll(0, List.of("env", "--default-signal", "setsid"));
            ProcessBuilder builder = new ProcessBuilder(line)
                    .directory(directory.toFile())
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().keySet().removeIf(variable -> variable.startsWith("HOLDFAST_"));
            builder.environment().putAll(environment);
            return new HoldfastProcess(builder.start(), out, err);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path temporaryFile(Path directory, String prefix) {
        try {
            return Files.createTempFile(directory, prefix, ".txt");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits for its end. */
    int exitCode() {
        try {
            assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .as("ends within %s; it said: %s", PATIENCE, err())
                    .isTrue();
            return process.exitValue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    boolean isAlive() {
        return process.isAlive();
    }

    long pid() {
        return process.pid();
    }

    String out() {
        return read(out);
    }

    String err() {
        return read(err);
    }

    void signal(String name) {
        signal(name, process.pid());
    }

    /** TERM, also to one that may be gone already. */
    void terminate() {
        process.destroy();
    }

    private static void signal(String name, long pid) {
        try {
            assertThat(new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid)
                            .inheritIO()
                            .start()
                            .waitFor())
                    .isZero();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
