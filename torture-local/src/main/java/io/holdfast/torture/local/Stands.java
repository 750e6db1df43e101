package io.holdfast.torture.local;

import io.holdfast.servers.EtcdCluster;
import io.holdfast.servers.MariaDbServer;
import io.holdfast.servers.PostgresServer;
import io.holdfast.servers.RedisCluster;
import io.holdfast.servers.RedisReplicaSet;
import io.holdfast.servers.RedisServer;
import io.holdfast.servers.RedisServer.Fsync;
import io.holdfast.servers.Server;
import io.holdfast.servers.ServerBuilder;
import io.holdfast.servers.ZooKeeperEnsemble;
import io.holdfast.torture.local.ServerStand.Options;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.stand.LocalStore;
import io.holdfast.torture.stand.Stand;
import io.holdfast.torture.stand.WallClock;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/** Starts the servers of each store. */
final class Stands {

    private static final int REDLOCK_NODES = 5;

    private final Set<Fault> faults;
    private final Path directory;

    Stands(Set<Fault> faults, Path directory) {
        this.faults = faults;
        this.directory = directory;
    }

    Stand redis() {
        List<WallClock> clocks = clocks(1);
        RedisServer redis = withClock(RedisServer.builder().appendOnly(Fsync.ALWAYS), clocks, 0)
                .start();
        return new ServerStand(
                List.of(redis),
                () -> List.of(redis),
                dialled -> "redis://" + Stand.hosts(dialled),
                Options.of(Duration.ofSeconds(2))
                        .withClocks(clocks)
                        .withTroubles(Map.of(
                                Fault.FULL, RedisOrders.memory(List.of(redis)),
                                Fault.READ_ONLY, RedisOrders.writes(List.of(redis)))),
                redis::close);
    }

    Stand sentinel(String parameters) {
        RedisReplicaSet redis = RedisReplicaSet.builder()
                .each(node -> node.appendOnly(Fsync.ALWAYS))
                .downAfter(sentinelsPatience())
                .start();
        String sentinels =
                Stand.hosts(redis.sentinels().stream().map(Server::address).toList());
        String uri = "redis-sentinel://" + sentinels + "/" + redis.masterName() + parameters;
        return new ServerStand(
                redis.nodes(),
                () -> List.of(redis.primary()),
                dialled -> uri,
                Options.of(Duration.ofSeconds(15)).notProxied(),
                redis::close);
    }

    Stand cluster() {
        RedisCluster redis = RedisCluster.builder()
                .replicasPerShard(1)
                .each(node -> node.appendOnly(Fsync.ALWAYS))
                .nodeTimeout(sentinelsPatience())
                .start();
        String uri = "redis-cluster://"
                + Stand.hosts(redis.nodes().stream().map(Server::address).toList());
        return new ServerStand(
                redis.nodes(),
                () -> minority(redis.leaders()),
                dialled -> uri,
                Options.of(Duration.ofSeconds(15))
                        .notProxied()
                        .withTroubles(Map.of(Fault.SLOT_MOVE, new SlotMove(redis))),
                redis::close);
    }

    /** Where nothing is done to servers, a primary kept from running by a busy machine is not to lose what it has. */
    private Duration sentinelsPatience() {
        return Duration.ofSeconds(faults.stream().anyMatch(Fault::isOfServers) ? 2 : 30);
    }

    Stand redlock() {
        List<WallClock> clocks = clocks(REDLOCK_NODES);
        List<RedisServer> nodes = new ArrayList<>();
        for (int i = 0; i < REDLOCK_NODES; i++) {
            nodes.add(withClock(RedisServer.builder().appendOnly(Fsync.ALWAYS), clocks, i)
                    .start());
        }
        return new ServerStand(
                nodes,
                () -> minority(nodes),
                // Longer than the default of 20 ms, which a machine that runs everything at once does not keep.
                dialled -> "redlock://" + Stand.hosts(dialled) + "?node-timeout=100ms",
                Options.of(Duration.ofSeconds(3))
                        .withClocks(clocks)
                        .withTroubles(Map.of(Fault.FULL, RedisOrders.memory(nodes))),
                () -> nodes.forEach(RedisServer::close));
    }

    Stand etcd() {
        EtcdCluster etcd = EtcdCluster.builder()
                .each(node -> faults.contains(Fault.FULL) ? node.args("--quota-backend-bytes", EtcdRoom.QUOTA) : node)
                .start();
        Options options = Options.of(Duration.ofSeconds(12));
        if (!faults.contains(Fault.LATE_SWEEP)) {
            return etcd(etcd, options.withTroubles(Map.of(Fault.FULL, new EtcdRoom(etcd.endpoints()))), etcd::close);
        }
        LateListings late =
                LateListings.before(etcd.nodes().stream().map(Server::address).toList());
        return etcd(etcd, options.withDialled(late.addresses()).withTroubles(Map.of(Fault.LATE_SWEEP, late)), () -> {
            late.close();
            etcd.close();
        });
    }

    private static Stand etcd(EtcdCluster etcd, Options options, Runnable close) {
        return new ServerStand(
                etcd.nodes(),
                () -> List.of(etcd.leader()),
                dialled -> "etcd://" + Stand.hosts(dialled),
                options,
                close);
    }

    Stand zookeeper() {
        ZooKeeperEnsemble zookeeper = ZooKeeperEnsemble.builder()
                .each(node -> node.tick(LocalStore.ZOOKEEPER_TICK))
                .start();
        return new ServerStand(
                zookeeper.nodes(),
                () -> List.of(zookeeper.leader()),
                Stands::zookeeperUri,
                Options.of(Duration.ofSeconds(15)),
                zookeeper::close);
    }

    static String zookeeperUri(List<InetSocketAddress> dialled) {
        return "zookeeper://" + Stand.hosts(dialled) + "/torture?tick=" + LocalStore.ZOOKEEPER_TICK.toMillis() + "ms";
    }

    Stand mariadb() {
        List<WallClock> clocks = clocks(1);
        MariaDbServer mariadb = withClock(MariaDbServer.builder(), clocks, 0).start();
        return new ServerStand(
                List.of(mariadb),
                () -> List.of(mariadb),
                dialled -> mariadb.jdbcUrl(dialled.get(0).getPort()) + "&createSchema=true",
                Options.of(Duration.ofSeconds(5)).withClocks(clocks),
                mariadb::close);
    }

    Stand postgres() {
        List<WallClock> clocks = clocks(1);
        PostgresServer postgres = withClock(PostgresServer.builder(), clocks, 0).start();
        return new ServerStand(
                List.of(postgres),
                () -> List.of(postgres),
                dialled -> postgres.jdbcUrl(dialled.get(0).getPort()) + "&createSchema=true",
                Options.of(Duration.ofSeconds(5)).withClocks(clocks),
                postgres::close);
    }

    /** Some of equals, fewer than half. */
    private static <S> List<S> minority(List<S> nodes) {
        List<S> some = new ArrayList<>(nodes);
        while (some.size() > (nodes.size() - 1) / 2) {
            some.remove(ThreadLocalRandom.current().nextInt(some.size()));
        }
        return some;
    }

    /** Clocks for the servers, if they are to be stepped; without, servers run as they are. */
    private List<WallClock> clocks(int count) {
        List<WallClock> clocks = new ArrayList<>();
        if (faults.contains(Fault.SERVER_CLOCK) && WallClock.isPossible()) {
            for (int i = 1; i <= count; i++) {
                clocks.add(WallClock.in(directory, "server-" + i));
            }
        }
        return clocks;
    }

    private static <B extends ServerBuilder<?, B>> B withClock(B builder, List<WallClock> clocks, int index) {
        if (!clocks.isEmpty()) {
            clocks.get(index).environment().forEach(builder::env);
        }
        return builder;
    }
}
