package io.holdfast.servers;

import java.util.List;

/**
 * Several servers that work as one store.
 *
 * <p>Thread-safe. A node may be killed, paused and restarted like any other {@link Server}. {@link Server#restart} of a node
 * waits until it serves if the nodes that run make a majority; otherwise until it listens.
 *
 * @param <S> its nodes
 */
public interface ServerGroup<S extends Server> extends AutoCloseable {

    /** All nodes that hold data, in a fixed order, running or not. */
    List<S> nodes();

    /**
     * The nodes that lead now, by the servers' own account: one of a replicated group, one per shard of a Redis cluster, fewer
     * while they elect.
     */
    List<S> leaders();

    /** Closes every node. */
    @Override
    void close();
}
