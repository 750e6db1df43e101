package io.holdfast.bench.compare.spot;

import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.compare.arena.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Whether a lock that has been taken 20,000 times, on a server that forgets nothing by itself, is as quick as a new one. */
public record History(Arena arena) implements SpotProbe {

    public static final int FEW = 1_000;
    public static final int MANY = 20_000;

    @Override
    public char letter() {
        return 'j';
    }

    @Override
    public String name() {
        return "history: " + MANY + " cycles";
    }

    @Override
    public Duration expected() {
        // Some 46,000 cycles, on stores that write each of them down.
        return Duration.ofSeconds(arena.store().equals("etcd") || arena.store().equals("ZooKeeper") ? 45 : 15);
    }

    @Override
    public List<Spot> measure() throws Exception {
        List<Spot> spots = new ArrayList<>();
        for (ContenderSpec spec : SpotProbe.oursAndFloor(arena).toList()) {
            try (Cycles warmUp = Cycles.of(spec, spec.settings(), "holdfast-bench/history-before")) {
                warmUp.median(3 * FEW);
            }
            arena.beforeTurn().run();
            try (Cycles cycles = Cycles.of(spec, spec.settings(), "holdfast-bench/history")) {
                double first = cycles.median(FEW);
                cycles.median(MANY - 2 * FEW);
                double last = cycles.median(FEW);
                spots.add(new Spot(arena.store(), spec.name(), Spot.Kind.HISTORY, FEW, first));
                spots.add(new Spot(arena.store(), spec.name(), Spot.Kind.HISTORY, MANY, last));
            }
        }
        return spots;
    }
}
