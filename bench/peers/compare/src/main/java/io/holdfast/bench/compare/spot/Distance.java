package io.holdfast.bench.compare.spot;

import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.compare.arena.Arena;
import io.holdfast.proxy.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A free lock with a network between client and server. */
public record Distance(Arena arena) implements SpotProbe {

    /** Each way. */
    public static final Duration DELAY = Duration.ofMillis(1);

    private static final int CYCLES = 300;

    @Override
    public char letter() {
        return 'l';
    }

    @Override
    public String name() {
        return "1 ms of network each way";
    }

    @Override
    public Duration expected() {
        return Duration.ofSeconds(8);
    }

    @Override
    public List<Spot> measure() throws Exception {
        List<Spot> spots = new ArrayList<>();
        for (ContenderSpec spec : SpotProbe.oursAndFloor(arena).toList()) {
            try (TcpProxy proxy = TcpProxy.to(arena.address().orElseThrow());
                    Cycles cycles = Cycles.of(
                            spec,
                            SpotProbe.through(spec, arena.address().orElseThrow(), proxy.address()),
                            "holdfast-bench/far")) {
                cycles.median(CYCLES);
                proxy.delay(DELAY);
                spots.add(new Spot(
                        arena.store(), spec.name(), Spot.Kind.FAR, DELAY.toNanos() / 1000, cycles.median(CYCLES)));
            }
        }
        return spots;
    }
}
