package io.holdfast.torture.spec;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tlc2.TLC;

/** Runs TLC on a module of {@code spec/}, in a process of its own: it keeps static state and ends its JVM. */
final class ModelChecker {

    private static final Path SPECIFICATIONS =
            Path.of("..", "spec").toAbsolutePath().normalize();
    private static final Pattern INVARIANT = Pattern.compile("Invariant (\\w+) is violated");
    private static final String FINISHED = "Model checking completed. No error has been found.";
    private static final Pattern STATES = Pattern.compile("(?m)^\\d+ states generated, (\\d+) distinct states");

    private final Path directory;
    private final Duration longest;

    ModelChecker(Path directory, Duration longest) {
        this.directory = directory;
        this.longest = longest;
    }

    /**
     * What TLC found.
     *
     * @param complete whether it looked at every state and found nothing wrong
     * @param violated the invariant that does not hold
     * @param states how many different ones there are, if it is complete
     * @param output all TLC said
     */
    record Result(boolean complete, Optional<String> violated, long states, String output) {}

    /** The module with the constants of {@code configuration}. */
    Result check(String module, String configuration) throws IOException, InterruptedException {
        Path output = directory.resolve(configuration + ".out");
        Process tlc = new ProcessBuilder(command(module, configuration))
                .directory(SPECIFICATIONS.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            if (!tlc.waitFor(longest.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException("TLC took longer than " + longest + ":\n" + Files.readString(output));
            }
        } finally {
            tlc.destroyForcibly().waitFor();
        }
        String said = Files.readString(output, StandardCharsets.UTF_8);
        Matcher invariant = INVARIANT.matcher(said);
        Matcher states = STATES.matcher(said);
        return new Result(
                said.contains(FINISHED),
                invariant.find() ? Optional.of(invariant.group(1)) : Optional.empty(),
                states.find() ? Long.parseLong(states.group(1)) : 0,
                said);
    }

    private List<String> command(String module, String configuration) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseParallelGC",
                "-Xmx1g",
                "-Djava.io.tmpdir=" + directory,
                "-cp",
                jar().toString(),
                TLC.class.getName(),
                "-workers",
                "2",
                // Reaching the bounds of the model is no deadlock.
                "-deadlock",
                "-metadir",
                directory.resolve(configuration).toString(),
                "-config",
                configuration + ".cfg",
                module + ".tla");
    }

    private static Path jar() {
        try {
            return Path.of(TLC.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
