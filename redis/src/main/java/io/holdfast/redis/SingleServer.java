package io.holdfast.redis;

import io.holdfast.spi.Deadline;
import java.util.List;

/** One server for all locks. */
final class SingleServer implements Topology {

    private final Node node;

    SingleServer(Node node) {
        this.node = node;
    }

    @Override
    public Node nodeOf(int slot, Deadline deadline) {
        return node;
    }

    @Override
    public String lane(int slot) {
        return "";
    }

    @Override
    public Node nodeOfLane(String lane, Deadline deadline) {
        return node;
    }

    @Override
    public boolean spansSlots() {
        return true;
    }

    @Override
    public List<Node> primaries(Deadline deadline) {
        return List.of(node);
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
