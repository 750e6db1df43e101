package io.holdfast.servers;

import io.holdfast.servers.process.Patience;
import io.holdfast.servers.process.ServerStartException;
import io.holdfast.servers.wire.RespCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/**
 * A Redis Cluster on loopback: shards that divide the slots among them, each a primary with replicas or none.
 *
 * <p>Without replicas a shard whose primary is dead stays dead until that is restarted. Thread-safe.
 */
public final class RedisCluster implements ServerGroup<RedisServer> {

    /** Redis wants no fewer for a failover. */
    private static final int SHARDS = 3;

    private static final int SLOTS = 16_384;

    private final List<RedisServer> nodes;

    private RedisCluster(List<RedisServer> nodes) {
        this.nodes = List.copyOf(nodes);
    }

    /** Starts three shards without replicas, with default options. */
    public static RedisCluster start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** First the nodes that began as primaries, one per shard, then those that began as replicas, in the order of shards. */
    @Override
    public List<RedisServer> nodes() {
        return nodes;
    }

    /** The nodes that are primaries of a shard now, by their own account. */
    @Override
    public List<RedisServer> leaders() {
        return nodes.stream().filter(node -> !slotsOf(node).isEmpty()).toList();
    }

    /** Returns the primary of the shard a key belongs to; waits for the end of a failover. */
    public RedisServer primaryFor(String key) {
        return Patience.await("no primary serves the slot of " + key, () -> {
            Optional<Integer> slot =
                    nodes.stream().filter(ServerProcess::isActive).findFirst().flatMap(node -> slotOf(key, node));
            return slot.flatMap(number -> nodes.stream()
                    .filter(node -> slotsOf(node).stream().anyMatch(range -> range.contains(number)))
                    .findFirst());
        });
    }

    /** Returns once every running node finds the cluster whole: all slots served. */
    public void awaitWhole() {
        Patience.awaitTrue(
                "the Redis cluster is not whole",
                () -> nodes.stream()
                        .filter(ServerProcess::isActive)
                        .allMatch(
                                node -> "ok".equals(node.info("CLUSTER", "INFO").get("cluster_state"))));
    }

    @Override
    public void close() {
        nodes.forEach(RedisServer::close);
    }

    private record SlotRange(int first, int last) {

        boolean contains(int slot) {
            return first <= slot && slot <= last;
        }

        /** Reads {@code 0-5460} or {@code 7}. */
        static SlotRange parse(String text) {
            String[] ends = text.split("-");
            return new SlotRange(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
        }
    }

    private static Optional<Integer> slotOf(String key, RedisServer node) {
        try {
            return Optional.of(
                    Integer.valueOf(node.call("CLUSTER", "KEYSLOT", key).text()));
        } catch (IOException unreachable) {
            return Optional.empty();
        }
    }

    /** The slots a node serves as primary, read from its line of CLUSTER NODES; none if it does not answer. */
    private static List<SlotRange> slotsOf(RedisServer node) {
        if (!node.isActive()) {
            return List.of();
        }
        try {
            return node.call("CLUSTER", "NODES")
                    .text()
                    .lines()
                    .map(line -> line.split(" "))
                    .filter(fields -> fields[2].contains("myself") && fields[2].contains("master"))
                    .flatMap(fields -> List.of(fields).stream().skip(8))
                    .filter(slots -> !slots.startsWith("[")) // on its way to another node
                    .map(SlotRange::parse)
                    .toList();
        } catch (IOException unreachable) {
            return List.of();
        }
    }

    private void bringUp() {
        nodes.forEach(ServerProcess::launch);
        nodes.forEach(ServerProcess::awaitReady);
        for (int shard = 0; shard < SHARDS; shard++) {
            RedisServer primary = nodes.get(shard);
            int first = SLOTS * shard / SHARDS;
            int last = SLOTS * (shard + 1) / SHARDS - 1;
            call(primary, "CLUSTER", "ADDSLOTSRANGE", Integer.toString(first), Integer.toString(last));
        }
        for (int i = 0; i < nodes.size(); i++) {
            RedisServer node = nodes.get(i);
            // Distinct epochs, or the nodes would have to settle that first.
            call(node, "CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
            call(
                    nodes.get(0),
                    "CLUSTER",
                    "MEET",
                    "127.0.0.1",
                    Integer.toString(node.port()),
                    Integer.toString(node.clusterBusPort()));
        }
        String size = Integer.toString(nodes.size());
        Patience.awaitTrue(
                "nodes of the Redis cluster do not meet",
                () -> nodes.stream()
                        .allMatch(
                                node -> size.equals(node.info("CLUSTER", "INFO").get("cluster_known_nodes"))));
        for (int i = SHARDS; i < nodes.size(); i++) {
            RedisServer primary = nodes.get(i % SHARDS);
            call(
                    nodes.get(i),
                    "CLUSTER",
                    "REPLICATE",
                    call(primary, "CLUSTER", "MYID").text());
        }
        Patience.awaitTrue(
                "replicas in the Redis cluster do not follow",
                () -> nodes.stream()
                        .skip(SHARDS)
                        .allMatch(replica ->
                                "up".equals(replica.info("INFO", "replication").get("master_link_status"))));
        awaitWhole();
    }

    /** Repeats a command that was not answered in time; that it was carried out already is an answer then. */
    private static RespCall.Reply call(RedisServer node, String... command) {
        String text = String.join(" ", command);
        AtomicBoolean repeated = new AtomicBoolean();
        return Patience.await(node.name() + " does not answer " + text, () -> {
            try {
                RespCall.Reply reply = node.call(command);
                if (reply.isError() && !(repeated.get() && reply.text().contains(" already "))) {
                    throw new IllegalStateException(node.name() + " refuses " + text + ": " + reply.text());
                }
                return Optional.of(reply);
            } catch (IOException e) {
                if (!node.isActive()) {
                    throw new UncheckedIOException(node.name() + " does not answer " + text, e);
                }
                repeated.set(true);
                return Optional.empty();
            }
        });
    }

    /** Options of a {@link RedisCluster}. */
    public static final class Builder {

        private int replicasPerShard;
        private Duration nodeTimeout = Duration.ofSeconds(2);
        private UnaryOperator<RedisServer.Builder> options = UnaryOperator.identity();

        private Builder() {}

        /** How many replicas each shard has; none by default. */
        public Builder replicasPerShard(int count) {
            replicasPerShard = count;
            return this;
        }

        /** After how long a silent node counts as dead; two seconds by default. */
        public Builder nodeTimeout(Duration silence) {
            nodeTimeout = silence;
            return this;
        }

        /** Sets options of every node, for example {@code each(node -> node.password("secret"))}. */
        public Builder each(UnaryOperator<RedisServer.Builder> nodeOptions) {
            options = nodeOptions;
            return this;
        }

        /**
         * Starts the cluster and returns once every node finds it whole.
         *
         * @throws ServerStartException if Redis is not installed, or a node does not start
         */
        public RedisCluster start() {
            return ServerBuilder.startOnFreePorts(this::create, RedisCluster::bringUp, RedisCluster::close);
        }

        private RedisCluster create() {
            List<RedisServer> nodes = new ArrayList<>();
            for (int number = 1; number <= SHARDS * (1 + replicasPerShard); number++) {
                nodes.add(new RedisServer(
                        "redis-" + number,
                        options.apply(RedisServer.builder()
                                .clusterNode()
                                .setting("cluster-node-timeout", Long.toString(nodeTimeout.toMillis()))
                                .setting("repl-diskless-sync-delay", "0"))));
            }
            return new RedisCluster(nodes);
        }
    }
}
