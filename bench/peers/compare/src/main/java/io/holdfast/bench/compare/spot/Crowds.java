package io.holdfast.bench.compare.spot;

import io.holdfast.DistributedLock;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.bench.compare.arena.Arena;
import io.holdfast.bench.compare.arena.Arenas;
import io.holdfast.bench.compare.arena.ClassPaths;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** Whether a lock is as quick with thousands on it: readers, waiters as futures, dead waiters in front of live ones. */
public record Crowds(Arena arena) implements SpotProbe {

    public static final int FEW_READERS = 10;
    public static final int MANY_READERS = 5_000;
    public static final int FEW_WAITERS = 100;
    public static final int MANY_WAITERS = 10_000;
    public static final int DEAD = 1_000;
    static final int LIVE = 250;
    public static final Duration SHORT_TTL = Duration.ofSeconds(8);

    private static final Duration LONG_TTL = Duration.ofSeconds(30);
    private static final Duration LONGEST_JOINING = Duration.ofSeconds(60);
    private static final Duration LONGEST_SERVING = Duration.ofSeconds(30);
    private static final int CYCLES = 300;

    @Override
    public char letter() {
        return 'i';
    }

    @Override
    public String name() {
        return "crowds";
    }

    @Override
    public Duration expected() {
        return Duration.ofSeconds(70);
    }

    @Override
    public List<Spot> measure() throws Exception {
        List<Spot> spots = new ArrayList<>();
        try (Holdfast crowd = connect(arena);
                Holdfast one = connect(arena)) {
            spots.addAll(readers(crowd, one));
            for (int dead : new int[] {0, DEAD}) {
                spots.add(spot(Spot.Kind.DEAD, dead, secondsBehind(dead, crowd, one)));
            }
            rateOf(FEW_WAITERS, crowd, one);
            for (int waiters : new int[] {FEW_WAITERS, MANY_WAITERS}) {
                spots.add(spot(Spot.Kind.WAITERS, waiters, rateOf(waiters, crowd, one)));
            }
        }
        return spots;
    }

    private static Holdfast connect(Arena arena) {
        return Holdfast.builder()
                .store(arena.named(Arenas.DEFAULTS).orElseThrow().settings().get("uri"))
                .requestTimeout(Duration.ofSeconds(20))
                .connect();
    }

    private Spot spot(Spot.Kind kind, long size, double value) {
        return new Spot(arena.store(), Arenas.DEFAULTS, kind, size, value);
    }

    private static LockOptions terms(Duration ttl) {
        return LockOptions.defaults().withTtl(ttl).withFairness(Fairness.FIFO);
    }

    private List<Spot> readers(Holdfast crowd, Holdfast one) throws Exception {
        String name = "holdfast-bench/readers";
        DistributedLock theirs = crowd.readWriteLock(name, terms(LONG_TTL)).readLock();
        DistributedLock mine = one.readWriteLock(name, terms(LONG_TTL)).readLock();
        List<Lease> held = new ArrayList<>();
        List<Spot> spots = new ArrayList<>();
        try {
            for (int readers : new int[] {FEW_READERS, MANY_READERS}) {
                while (held.size() < readers) {
                    held.add(theirs.acquire());
                }
                cycle(mine);
                spots.add(spot(Spot.Kind.READERS, readers, cycle(mine)));
            }
        } finally {
            held.forEach(Lease::close);
        }
        return spots;
    }

    private static double cycle(DistributedLock lock) throws Exception {
        return Timed.median(CYCLES, () -> lock.acquire().close());
    }

    /** How many a second are served of a line that stands; those of half a minute if that is not enough. */
    private double rateOf(int waiters, Holdfast crowd, Holdfast one) throws Exception {
        Line line = Line.form("holdfast-bench/line-" + waiters, waiters, LONG_TTL, crowd, one);
        return line.serve();
    }

    /** From the death of those in front until the last of the others has been served. */
    private double secondsBehind(int dead, Holdfast crowd, Holdfast one) throws Exception {
        String name = "holdfast-bench/behind-" + dead;
        Lease held = one.lock(name, terms(SHORT_TTL)).acquire();
        Process dying = dead == 0 ? null : Waiters.start(arena, name, dead);
        Line line = Line.join(name, LIVE, dead + LIVE, SHORT_TTL, crowd, held);
        if (dying != null) {
            dying.destroyForcibly().waitFor();
        }
        long start = System.nanoTime();
        line.serve();
        return (System.nanoTime() - start) / 1e9;
    }

    /** Futures that wait for one lock, behind its holder. */
    private record Line(Lease held, List<CompletableFuture<Void>> waiting, AtomicInteger served) {

        static Line form(String name, int waiters, Duration ttl, Holdfast crowd, Holdfast one) throws Exception {
            return join(
                    name,
                    waiters,
                    waiters,
                    ttl,
                    crowd,
                    one.lock(name, terms(ttl)).acquire());
        }

        static Line join(String name, int own, int all, Duration ttl, Holdfast crowd, Lease held)
                throws InterruptedException {
            DistributedLock lock = crowd.lock(name, terms(ttl));
            AtomicInteger served = new AtomicInteger();
            List<CompletableFuture<Void>> waiting = new ArrayList<>();
            for (int i = 0; i < own; i++) {
                waiting.add(lock.acquireAsync().thenAccept(lease -> {
                    served.incrementAndGet();
                    lease.release();
                }));
            }
            long deadline = System.nanoTime() + LONGEST_JOINING.toNanos();
            while (lock.inspect().waiters().size() < all && System.nanoTime() < deadline) {
                TimeUnit.MILLISECONDS.sleep(200);
            }
            return new Line(held, waiting, served);
        }

        /** Per second. */
        double serve() throws ExecutionException, InterruptedException {
            long start = System.nanoTime();
            held.release();
            try {
                CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new))
                        .get(LONGEST_SERVING.toSeconds(), TimeUnit.SECONDS);
            } catch (TimeoutException tooMany) {
                waiting.forEach(future -> future.cancel(false));
            }
            return served.get() * 1e9 / (System.nanoTime() - start);
        }
    }

    /** A process that waits, to be killed. */
    static final class Waiters {

        private Waiters() {}

        static Process start(Arena arena, String name, int waiters) throws IOException {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            String.join(File.pathSeparator, new ClassPaths(Path.of("")).own()),
                            Waiters.class.getName(),
                            arena.named(Arenas.DEFAULTS)
                                    .orElseThrow()
                                    .settings()
                                    .get("uri"),
                            name,
                            Integer.toString(waiters))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (process.inputReader().readLine() == null) {
                throw new IOException("those who are to die did not join");
            }
            return process;
        }

        /** Says so when all are in line, and ends with its input, if it is not killed before. */
        public static void main(String[] arguments) throws Exception {
            Holdfast holdfast = Holdfast.builder()
                    .store(arguments[0])
                    .requestTimeout(Duration.ofSeconds(20))
                    .connect();
            int waiters = Integer.parseInt(arguments[2]);
            DistributedLock lock = holdfast.lock(arguments[1], terms(SHORT_TTL));
            for (int i = 0; i < waiters; i++) {
                var unused = lock.acquireAsync();
            }
            long deadline = System.nanoTime() + LONGEST_JOINING.toNanos();
            while (lock.inspect().waiters().size() < waiters && System.nanoTime() < deadline) {
                TimeUnit.MILLISECONDS.sleep(200);
            }
            System.out.println("waiting");
            var unused = System.in.read();
            Runtime.getRuntime().halt(0);
        }
    }
}
