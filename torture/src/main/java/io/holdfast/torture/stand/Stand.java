package io.holdfast.torture.stand;

import io.holdfast.torture.nemesis.Injector;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A store to be tortured. Its {@link Injector} does the faults of servers. Thread-safe.
 *
 * <p>Where a client dials only the addresses it is given, a proxy can stand before each of them. Clients of Sentinel and of a
 * Redis cluster are told further addresses by the servers and would pass the proxy by; {@link #addresses} is empty for those,
 * as for a store without a network.
 */
public interface Stand extends Injector, AutoCloseable {

    /** What clients dial and a proxy may stand before, in the order of the URI. */
    List<InetSocketAddress> addresses();

    /** The store's URI with these addresses in place of its own. */
    String uri(List<InetSocketAddress> dialled);

    /** How long the servers may take to serve again after their last fault, at most. */
    Duration failover();

    /** Whether the death of a holder frees what it held, with no ttl to wait for. */
    default boolean freesTheDeadAtOnce() {
        return false;
    }

    @Override
    void close();

    /** {@code host:port,host:port}. */
    static String hosts(List<InetSocketAddress> addresses) {
        return addresses.stream()
                .map(address -> address.getAddress().getHostAddress() + ":" + address.getPort())
                .collect(Collectors.joining(","));
    }

    /** The store's URI as it is. */
    default String uri() {
        return uri(addresses());
    }
}
