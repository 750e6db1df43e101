package io.holdfast.servers;

import io.holdfast.servers.process.ServerStartException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What all servers can be told before they start.
 *
 * <p>Not thread-safe; each {@link #start} gives another server.
 *
 * @param <S> the server it starts
 * @param <B> the builder itself
 */
public abstract class ServerBuilder<S extends Server, B extends ServerBuilder<S, B>> {

    private static final int PORT_TRIES = 5;

    final List<String> arguments = new ArrayList<>();
    final Map<String, String> environment = new LinkedHashMap<>();
    boolean durable;

    ServerBuilder() {}

    /** Adds arguments to the end of the server's command line (for ZooKeeper: {@code key=value} lines of its configuration). */
    public B args(String... more) {
        arguments.addAll(List.of(more));
        return self();
    }

    /** Sets a variable in the server's environment, for example {@code LD_PRELOAD}. */
    public B env(String name, String value) {
        environment.put(name, value);
        return self();
    }

    /** Syncs to disk as in production: slower, needed when speed is measured. */
    public B durable() {
        durable = true;
        return self();
    }

    /**
     * Starts the server and returns once it answers.
     *
     * @throws ServerStartException if its program is not installed, or it does not start
     */
    public abstract S start();

    abstract B self();

    /** Creates and starts something that reserves ports, and again with other ports if one has been taken meanwhile. */
    static <T> T startOnFreePorts(Supplier<T> factory, Consumer<T> start, Consumer<T> close) {
        for (int tries = 1; ; tries++) {
            T created = factory.get();
            try {
                start.accept(created);
                return created;
            } catch (RuntimeException e) {
                close.accept(created);
                if (tries == PORT_TRIES || !(e instanceof ServerStartException.PortTaken)) {
                    throw e;
                }
            }
        }
    }

    static <S extends ServerProcess> S startOnFreePorts(Supplier<S> factory) {
        return startOnFreePorts(factory, ServerProcess::bringUp, ServerProcess::close);
    }
}
