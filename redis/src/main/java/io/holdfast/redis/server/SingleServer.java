package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;

/** One server for all locks. */
public final class SingleServer implements Topology {

    private final Node node;

    public SingleServer(Node node) {
        this.node = node;
    }

    @Override
    public Node nodeOf(int slot, Deadline deadline) {
        return node;
    }

    @Override
    public void suspect(Node suspected) {
        // There is no other.
    }

    @Override
    public boolean failsOver() {
        return false;
    }

    @Override
    public void close() {
        node.close();
    }
}
