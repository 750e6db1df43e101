package io.holdfast.bench.compare.spot;

import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.compare.arena.Arena;
import io.holdfast.bench.compare.arena.Arenas;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Measures {@link Spot}s of one store. */
public interface SpotProbe {

    char letter();

    String name();

    Duration expected();

    List<Spot> measure() throws Exception;

    /** The most telling first; none for a store without a server. */
    static List<SpotProbe> of(Arena arena) {
        return arena.address().isEmpty() || arena.named(Arenas.DEFAULTS).isEmpty()
                ? List.of()
                : List.of(new History(arena), new Crowds(arena), new Distance(arena), new ColdStart(arena));
    }

    /** The settings of a contender that reaches the server of its arena through a proxy. */
    static Map<String, String> through(ContenderSpec spec, InetSocketAddress server, InetSocketAddress proxy) {
        return spec.settings().entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey,
                        setting -> setting.getValue()
                                .replace("127.0.0.1:" + server.getPort(), "127.0.0.1:" + proxy.getPort())));
    }

    /** What a lock is compared with here, both of them without other libraries on their class paths. */
    static Stream<ContenderSpec> oursAndFloor(Arena arena) {
        return Stream.of(Arenas.DEFAULTS, Arenas.FLOOR).flatMap(name -> arena.named(name).stream());
    }
}
