package io.holdfast.quorum;

import io.holdfast.spi.Grant;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** What the nodes granted for one lease, late ones included. Thread-safe. */
final class NodeGrants {

    private final Map<Integer, Grant> byNode = new HashMap<>();
    private boolean ended;

    /** What a quorum's grant is made of. */
    static NodeGrants of(Grant grant) {
        return (NodeGrants) Objects.requireNonNull(grant.handle(), "a grant of another store");
    }

    /** False if the lease has ended already: then nobody will release this grant but the caller. */
    synchronized boolean add(int node, Grant grant) {
        if (!ended) {
            byNode.put(node, grant);
        }
        return !ended;
    }

    synchronized Optional<Grant> at(int node) {
        return Optional.ofNullable(byNode.get(node));
    }

    synchronized void remove(int node) {
        byNode.remove(node);
    }

    synchronized void end() {
        ended = true;
    }
}
