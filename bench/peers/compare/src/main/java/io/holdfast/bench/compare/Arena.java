package io.holdfast.bench.compare;

import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.ServerProbe;
import java.util.List;

/** A store, ready to be used, and all who compete on it. */
record Arena(String store, List<ContenderSpec> contenders, ServerProbe probe, AutoCloseable server, Runnable beforeTurn)
        implements AutoCloseable {

    Arena(String store, List<ContenderSpec> contenders, ServerProbe probe, AutoCloseable server) {
        this(store, contenders, probe, server, () -> {});
    }

    /** @param action done before each contender's turn, so that all begin on the same server */
    Arena withBeforeTurn(Runnable action) {
        return new Arena(store, contenders, probe, server, action);
    }

    @Override
    public void close() throws Exception {
        server.close();
    }
}
