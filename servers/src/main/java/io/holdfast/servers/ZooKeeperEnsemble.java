package io.holdfast.servers;

import io.holdfast.servers.process.ServerStartException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** Several ZooKeeper servers on loopback that form one ensemble. Thread-safe. */
public final class ZooKeeperEnsemble extends QuorumGroup<ZooKeeperServer> {

    private static final int MEMBERS = 3;

    private ZooKeeperEnsemble(List<ZooKeeperServer> nodes) {
        super("The ZooKeeper ensemble", nodes, ZooKeeperServer::isLeader);
        List<String> members = new ArrayList<>();
        for (int id = 1; id <= nodes.size(); id++) {
            members.add("server." + id + "=" + nodes.get(id - 1).memberAddress());
        }
        for (int id = 1; id <= nodes.size(); id++) {
            nodes.get(id - 1).join(id, members, this::hasMajority);
        }
    }

    /** Starts an ensemble of three with default options. */
    public static ZooKeeperEnsemble start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** What a ZooKeeper client takes: all members, in the order of {@link #nodes}. */
    public String connectString() {
        return nodes().stream().map(ZooKeeperServer::connectString).collect(Collectors.joining(","));
    }

    /** Options of a {@link ZooKeeperEnsemble}. */
    public static final class Builder {

        private UnaryOperator<ZooKeeperServer.Builder> options = UnaryOperator.identity();

        private Builder() {}

        /** Sets options of every member, for example {@code each(node -> node.tick(Duration.ofMillis(200)))}. */
        public Builder each(UnaryOperator<ZooKeeperServer.Builder> nodeOptions) {
            options = nodeOptions;
            return this;
        }

        /**
         * Starts the ensemble and returns once every member serves.
         *
         * @throws ServerStartException if ZooKeeper is not on the class path, or a member does not start
         */
        public ZooKeeperEnsemble start() {
            return ServerBuilder.startOnFreePorts(this::create, ZooKeeperEnsemble::bringUp, ZooKeeperEnsemble::close);
        }

        private ZooKeeperEnsemble create() {
            List<ZooKeeperServer> nodes = new ArrayList<>();
            for (int number = 1; number <= MEMBERS; number++) {
                nodes.add(new ZooKeeperServer("zookeeper-" + number, options.apply(ZooKeeperServer.builder())));
            }
            return new ZooKeeperEnsemble(nodes);
        }
    }
}
