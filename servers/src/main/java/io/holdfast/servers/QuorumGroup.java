package io.holdfast.servers;

import io.holdfast.servers.process.Patience;
import java.util.List;
import java.util.function.Predicate;

/** Nodes that serve only while a majority of them runs. */
abstract class QuorumGroup<S extends ServerProcess> implements ServerGroup<S> {

    private final String name;
    private final List<S> nodes;
    private final Predicate<S> leads;

    QuorumGroup(String name, List<S> nodes, Predicate<S> leads) {
        this.name = name;
        this.nodes = List.copyOf(nodes);
        this.leads = leads;
    }

    @Override
    public List<S> nodes() {
        return nodes;
    }

    @Override
    public List<S> leaders() {
        return nodes.stream().filter(ServerProcess::isActive).filter(leads).toList();
    }

    /** Returns the node that leads; waits for the end of an election. */
    public S leader() {
        return Patience.await(name + " has no leader", () -> leaders().stream().findFirst());
    }

    /** The nodes that do not lead, running or not. */
    public List<S> followers() {
        S leader = leader();
        return nodes.stream().filter(node -> node != leader).toList();
    }

    @Override
    public void close() {
        nodes.forEach(ServerProcess::close);
    }

    final boolean hasMajority() {
        return nodes.stream().filter(ServerProcess::isActive).count() > nodes.size() / 2;
    }

    /** Starts all before it waits for any: none serves before a majority runs. */
    final void bringUp() {
        nodes.forEach(ServerProcess::launch);
        nodes.forEach(ServerProcess::awaitReady);
        leader();
    }
}
