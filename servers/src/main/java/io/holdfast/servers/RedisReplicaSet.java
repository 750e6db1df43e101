package io.holdfast.servers;

import io.holdfast.servers.process.Patience;
import io.holdfast.servers.process.ServerStartException;
import io.holdfast.servers.wire.TlsClients;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * A Redis primary with replicas on loopback, watched by Sentinels that promote a replica when the primary fails.
 *
 * <p>Without Sentinels nobody is promoted. Thread-safe.
 */
public final class RedisReplicaSet implements ServerGroup<RedisServer> {

    private final List<RedisServer> nodes;
    private final List<RedisSentinel> sentinels;
    private final String masterName;

    private RedisReplicaSet(List<RedisServer> nodes, List<RedisSentinel> sentinels, String masterName) {
        this.nodes = List.copyOf(nodes);
        this.sentinels = List.copyOf(sentinels);
        this.masterName = masterName;
    }

    /** Starts a primary, two replicas and three Sentinels with default options. */
    public static RedisReplicaSet start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The name under which the Sentinels know the primary. */
    public String masterName() {
        return masterName;
    }

    public List<RedisSentinel> sentinels() {
        return sentinels;
    }

    @Override
    public List<RedisServer> nodes() {
        return nodes;
    }

    @Override
    public List<RedisServer> leaders() {
        return findPrimary().stream().toList();
    }

    /** Returns the node that most Sentinels take for the primary and that takes itself for it; waits for the end of a failover. */
    public RedisServer primary() {
        return Patience.await("Redis has no primary", this::findPrimary);
    }

    /** The nodes that are not the primary, running or not. */
    public List<RedisServer> replicas() {
        RedisServer primary = primary();
        return nodes.stream().filter(node -> node != primary).toList();
    }

    @Override
    public void close() {
        // Sentinels first, or they would begin a failover.
        sentinels.forEach(RedisSentinel::close);
        nodes.forEach(RedisServer::close);
    }

    private Optional<RedisServer> findPrimary() {
        Map<Integer, Integer> votes = new HashMap<>();
        sentinels.stream()
                .filter(ServerProcess::isActive)
                .forEach(sentinel ->
                        sentinel.primaryPort(masterName).ifPresent(port -> votes.merge(port, 1, Integer::sum)));
        return nodes.stream()
                .filter(ServerProcess::isActive)
                .filter(node -> sentinels.isEmpty() || votes.getOrDefault(node.port(), 0) > sentinels.size() / 2)
                .filter(node -> "master".equals(node.info("INFO", "replication").get("role")))
                .findFirst();
    }

    private void bringUp() {
        nodes.forEach(ServerProcess::launch);
        nodes.forEach(ServerProcess::awaitReady);
        Patience.awaitTrue("Redis replicas do not follow their primary", this::replicasFollow);
        sentinels.forEach(ServerProcess::launch);
        sentinels.forEach(ServerProcess::awaitReady);
        Patience.awaitTrue("Sentinels do not know each other and all servers", this::sentinelsKnowAll);
    }

    private boolean replicasFollow() {
        return nodes.stream()
                .skip(1)
                .allMatch(replica ->
                        "up".equals(replica.info("INFO", "replication").get("master_link_status")));
    }

    private boolean sentinelsKnowAll() {
        String replicas = Integer.toString(nodes.size() - 1);
        String otherSentinels = Integer.toString(sentinels.size() - 1);
        return sentinels.stream()
                .map(sentinel -> sentinel.view(masterName))
                .allMatch(view -> replicas.equals(view.get("num-slaves"))
                        && otherSentinels.equals(view.get("num-other-sentinels")));
    }

    /** Options of a {@link RedisReplicaSet}. */
    public static final class Builder {

        private static final String MASTER_NAME = "holdfast";

        private int replicas = 2;
        private int sentinels = 3;
        private Duration downAfter = Duration.ofSeconds(2);
        private UnaryOperator<RedisServer.Builder> options = UnaryOperator.identity();

        private Builder() {}

        /** How many replicas the primary has; two by default. */
        public Builder replicas(int count) {
            replicas = count;
            return this;
        }

        /** How many Sentinels watch; three by default, and none is allowed. */
        public Builder sentinels(int count) {
            sentinels = count;
            return this;
        }

        /** After how long a silent primary counts as dead; two seconds by default. */
        public Builder downAfter(Duration silence) {
            downAfter = silence;
            return this;
        }

        /** Sets options of every server, for example {@code each(node -> node.password("secret"))}. */
        public Builder each(UnaryOperator<RedisServer.Builder> nodeOptions) {
            options = nodeOptions;
            return this;
        }

        /**
         * Starts all and returns once the replicas follow and the Sentinels know everybody.
         *
         * @throws ServerStartException if Redis is not installed, or a server does not start
         */
        public RedisReplicaSet start() {
            return ServerBuilder.startOnFreePorts(this::create, RedisReplicaSet::bringUp, RedisReplicaSet::close);
        }

        private RedisReplicaSet create() {
            RedisServer primary = new RedisServer("redis-1", nodeOptions());
            List<RedisServer> nodes = new ArrayList<>(List.of(primary));
            for (int number = 2; number <= replicas + 1; number++) {
                nodes.add(new RedisServer("redis-" + number, nodeOptions().replicaOf(primary)));
            }
            List<RedisSentinel> watchers = new ArrayList<>();
            for (int number = 1; number <= sentinels; number++) {
                watchers.add(new RedisSentinel(
                        "sentinel-" + number,
                        sentinelSettings(primary),
                        primary.tls().orElse(null)));
            }
            return new RedisReplicaSet(nodes, watchers, MASTER_NAME);
        }

        private RedisServer.Builder nodeOptions() {
            // Replicas would wait five seconds for each other before they are sent the data.
            return options.apply(RedisServer.builder().setting("repl-diskless-sync-delay", "0"));
        }

        private List<String> sentinelSettings(RedisServer primary) {
            List<String> settings = new ArrayList<>();
            primary.tls().ifPresent(tls -> settings.addAll(RedisServer.tlsSettings(tls, TlsClients.ANONYMOUS)));
            int quorum = sentinels / 2 + 1;
            settings.add("sentinel monitor " + MASTER_NAME + " 127.0.0.1 " + primary.port() + " " + quorum);
            settings.add("sentinel down-after-milliseconds " + MASTER_NAME + " " + downAfter.toMillis());
            settings.add("sentinel failover-timeout " + MASTER_NAME + " 10000");
            primary.password()
                    .ifPresent(password -> settings.add("sentinel auth-pass " + MASTER_NAME + " " + password));
            return settings;
        }
    }
}
