package io.holdfast.bench.compare;

import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.ServerProbe;
import java.util.List;

/** A store, ready to be used, and all who compete on it. */
record Arena(String store, List<ContenderSpec> contenders, ServerProbe probe, AutoCloseable server)
        implements AutoCloseable {

    @Override
    public void close() throws Exception {
        server.close();
    }
}
