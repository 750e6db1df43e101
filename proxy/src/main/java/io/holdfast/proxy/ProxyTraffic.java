package io.holdfast.proxy;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/** What has come in at a proxy so far. Thread-safe. */
final class ProxyTraffic {

    private final AtomicLong connections = new AtomicLong();
    private final Map<Direction, AtomicLong> bytes = perDirection();
    private final Map<Direction, AtomicLong> requests = perDirection();

    void addConnection() {
        connections.incrementAndGet();
    }

    void add(Direction direction, int moreBytes, int moreRequests) {
        bytes.get(direction).addAndGet(moreBytes);
        requests.get(direction).addAndGet(moreRequests);
    }

    long connections() {
        return connections.get();
    }

    long bytes(Direction direction) {
        return bytes.get(direction).get();
    }

    long requests(Direction direction) {
        return requests.get(direction).get();
    }

    private static Map<Direction, AtomicLong> perDirection() {
        // Filled here and only read later, so threads may share it.
        return new EnumMap<>(Map.of(Direction.TO_SERVER, new AtomicLong(), Direction.TO_CLIENT, new AtomicLong()));
    }
}
