package io.holdfast.bench.compare.arena;

import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.server.ServerProbe;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A store, ready to be used, and all who compete on it.
 *
 * @param main those the goals are about, which are measured first
 * @param address of its server
 * @param beforeTurn done before each contender's turn, so that all begin on the same server
 */
public record Arena(
        String store,
        List<ContenderSpec> main,
        List<ContenderSpec> others,
        ServerProbe probe,
        Optional<InetSocketAddress> address,
        AutoCloseable server,
        Runnable beforeTurn)
        implements AutoCloseable {

    /** A setting of contenders whose JVMs are stopped while others run. */
    public static final String RESTLESS = "bench.restless";

    /** A setting: no runs with more waiters. */
    public static final String MOST_WAITERS = "bench.waiters";

    public Stream<ContenderSpec> contenders() {
        return Stream.concat(main.stream(), others.stream());
    }

    /** Of the main ones. */
    public Optional<ContenderSpec> named(String name) {
        return main.stream().filter(spec -> spec.name().equals(name)).findFirst();
    }

    @Override
    public void close() throws Exception {
        server.close();
    }
}
