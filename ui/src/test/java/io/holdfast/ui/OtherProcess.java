package io.holdfast.ui;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** A {@link LockProgram} in a process of its own. */
final class OtherProcess implements AutoCloseable {

    private final Process process;
    private final Path output;
    private final Writer input;

    private OtherProcess(Process process, Path output) {
        this.process = process;
        this.output = output;
        this.input = process.outputWriter(StandardCharsets.UTF_8);
    }

    static OtherProcess start(String store, String client, Path directory) {
        try {
            Path output = Files.createTempFile(directory, "process", ".txt");
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-Xmx128m",
                            "-cp",
                            System.getProperty("java.class.path"),
                            LockProgram.class.getName(),
                            store,
                            client)
                    .redirectOutput(output.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return new OtherProcess(process, output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    long pid() {
        return process.pid();
    }

    /** Tells it to do something, without waiting until it has. */
    OtherProcess tell(String order) {
        try {
            input.write(order + "\n");
            input.flush();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until it has done that. */
    OtherProcess done(String order) {
        await("does: " + order)
                .atMost(Browser.SOON)
                .until(() -> Files.readString(output).lines().anyMatch(order::equals));
        return this;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
