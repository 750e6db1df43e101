package io.holdfast.bench.compare;

import io.holdfast.bench.compare.arena.Arena;
import io.holdfast.bench.compare.arena.Arenas;
import io.holdfast.bench.compare.arena.ClassPaths;
import io.holdfast.bench.compare.arena.ServerVersions;
import io.holdfast.bench.compare.kept.Kept;
import io.holdfast.bench.compare.page.PerformancePage;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import picocli.CommandLine;

/** Measures one store after the other, each as a part of its own, and writes the page. */
public final class Compare {

    private static final Path PEERS = Path.of("bench/peers");
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss");

    private Compare() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new CompareOptions()).execute(arguments));
    }

    static void compare(CompareOptions options) throws Exception {
        Kept kept = Kept.read(options.json());
        if (!options.renderOnly()) {
            measure(options, kept);
        }
        if (!options.planOnly()) {
            PerformancePage.write(kept, options.docs());
        }
    }

    private static void measure(CompareOptions options, Kept kept) {
        ClassPaths classPaths = new ClassPaths(PEERS);
        Map<String, String> versions = new TreeMap<>(classPaths.versions());
        versions.putAll(ServerVersions.installed());
        List<Supplier<Arena>> wanted = new Arenas(classPaths)
                .all().entrySet().stream()
                        .filter(entry -> options.isWanted(entry.getKey()))
                        .map(Map.Entry::getValue)
                        .toList();
        long startNanos = System.nanoTime();
        options.time().ifPresent(time -> say("stops by itself before " + clockIn(time)));
        for (int i = 0; i < wanted.size(); i++) {
            int left = wanted.size() - i;
            Optional<Duration> time = options.time()
                    .map(all -> options.planOnly()
                            ? all.dividedBy(wanted.size())
                            : all.minusNanos(System.nanoTime() - startNanos).dividedBy(left));
            try (Arena arena = wanted.get(i).get();
                    StoreRun run = new StoreRun(arena, options, kept, versions, time)) {
                say(run.plan());
                if (!options.planOnly()) {
                    run.measure();
                }
            } catch (Exception e) {
                // What was measured so far is kept, and other stores may fare better.
                say("this store is left: " + e);
                e.printStackTrace();
            }
        }
    }

    static String clockIn(Duration time) {
        return LocalTime.now().plus(time).format(CLOCK);
    }

    static void say(String text) {
        System.out.println(LocalTime.now().format(CLOCK) + " " + text);
    }
}
