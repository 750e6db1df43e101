package io.holdfast.quorum;

import io.holdfast.spi.Grant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** What the nodes granted for one lease, late ones included. Thread-safe. */
final class NodeGrants {

    private final Map<Integer, Grant> byNode = new HashMap<>();
    private boolean ended;

    /** False if the lease has ended already: then nobody will release this grant but the caller. */
    synchronized boolean add(int node, Grant grant) {
        if (!ended) {
            byNode.put(node, grant);
        }
        return !ended;
    }

    synchronized Optional<Grant> of(int node) {
        return Optional.ofNullable(byNode.get(node));
    }

    synchronized void remove(int node) {
        byNode.remove(node);
    }

    synchronized void end() {
        ended = true;
    }
}
