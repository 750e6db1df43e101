package io.holdfast.bench.compare.spot;

import io.holdfast.Holdfast;
import io.holdfast.bench.compare.arena.Arena;
import io.holdfast.bench.compare.arena.Arenas;
import io.holdfast.bench.compare.arena.ClassPaths;
import io.holdfast.proxy.TcpProxy;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The first lock of a new process: a program that uses the library, and the command. Near, and with a network between. */
record ColdStart(Arena arena) implements SpotProbe {

    private static final int TIMES = 5;

    /** The program. */
    static final class Program {

        private Program() {}

        public static void main(String[] arguments) throws InterruptedException {
            try (Holdfast holdfast = Holdfast.connect(arguments[0])) {
                holdfast.lock("holdfast-bench/cold").acquire().close();
            }
        }
    }

    @Override
    public char letter() {
        return 'k';
    }

    @Override
    public String name() {
        return "cold start";
    }

    @Override
    public Duration expected() {
        return Duration.ofSeconds(24);
    }

    @Override
    public List<Spot> measure() throws Exception {
        List<Spot> spots = new ArrayList<>(measure(uri(), 0));
        try (TcpProxy proxy = TcpProxy.to(arena.address().orElseThrow())) {
            proxy.delay(Distance.DELAY);
            String far =
                    uri().replace("127.0.0.1:" + arena.address().orElseThrow().getPort(), "127.0.0.1:" + proxy.port());
            spots.addAll(measure(far, Distance.DELAY.toNanos() / 1000));
        }
        return spots;
    }

    private String uri() {
        return arena.named(Arenas.DEFAULTS).orElseThrow().settings().get("uri");
    }

    private List<Spot> measure(String uri, long distance) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String classPath = String.join(File.pathSeparator, new ClassPaths(Path.of("")).own());
        return List.of(
                new Spot(
                        arena.store(),
                        Arenas.DEFAULTS,
                        Spot.Kind.COLD_LIBRARY,
                        distance,
                        median(List.of(java, "-cp", classPath, Program.class.getName(), uri))),
                new Spot(
                        arena.store(),
                        Arenas.DEFAULTS,
                        Spot.Kind.COLD_COMMAND,
                        distance,
                        median(List.of("./holdfast", "run", "--store", uri, "holdfast-bench/cold", "--", "true"))));
    }

    /** Microseconds, of the whole process. */
    private static double median(List<String> line) throws Exception {
        return Timed.median(TIMES, () -> run(line));
    }

    private static void run(List<String> line) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new IllegalStateException("failed: " + String.join(" ", line.subList(line.size() - 5, line.size())));
        }
    }
}
