package io.holdfast.bench.compare.arena;

import static io.holdfast.bench.Scenario.CROWD;
import static io.holdfast.bench.Scenario.FREE;
import static io.holdfast.bench.Scenario.GROWTH;
import static io.holdfast.bench.Scenario.HELD;
import static io.holdfast.bench.Scenario.PROCESSES;
import static io.holdfast.bench.Scenario.SECTION;
import static io.holdfast.bench.Scenario.SPREAD;

import io.holdfast.bench.ContenderSpec;
import io.holdfast.bench.ContenderSpec.Kind;
import io.holdfast.bench.HoldfastContender;
import io.holdfast.bench.HoldfastContender.Mode;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.server.ServerProbe;
import io.holdfast.bench.server.ServerProbes;
import io.holdfast.bench.server.StoreAddress;
import io.holdfast.servers.EtcdServer;
import io.holdfast.servers.MariaDbServer;
import io.holdfast.servers.PostgresServer;
import io.holdfast.servers.RedisServer;
import io.holdfast.servers.Server;
import io.holdfast.servers.ZooKeeperServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Supplier;

/** Who competes where. Servers sync to disk as their defaults have it, except where the name of the store says so. */
public final class Arenas {

    public static final String DEFAULTS = "Holdfast";
    public static final String FIFO = "Holdfast, strict order";
    static final String POLLING = "Holdfast, polling";
    public static final String FLOOR = "floor";
    public static final String BLPOP = "floor, BLPOP";
    public static final String REDIS_SYNCED = "Redis, fsync always";

    private static final Set<Scenario> UNCONTENDED = Set.of(FREE, SPREAD);
    private static final Set<Scenario> CONTENDED = Set.of(CROWD, PROCESSES, SECTION, GROWTH);
    private static final Set<Scenario> ALL = Set.of(FREE, SPREAD, CROWD, PROCESSES, SECTION, GROWTH, HELD);
    private static final Set<Scenario> NO_HELD = Set.of(FREE, SPREAD, CROWD, PROCESSES, SECTION, GROWTH);
    private static final Set<Scenario> SHORT_LINES = Set.of(FREE, SPREAD, CROWD, PROCESSES, SECTION);

    private final ClassPaths classPaths;

    public Arenas(ClassPaths classPaths) {
        this.classPaths = classPaths;
    }

    /** By the names the command line knows, in the order of the page. */
    public Map<String, Supplier<Arena>> all() {
        Map<String, Supplier<Arena>> all = new LinkedHashMap<>();
        all.put("redis", this::redis);
        all.put("redis-aof", this::redisSynced);
        all.put("etcd", this::etcd);
        all.put("zookeeper", this::zooKeeper);
        all.put("mariadb", this::mariaDb);
        all.put("postgresql", this::postgres);
        all.put("embedded", this::memory);
        return all;
    }

    private Arena redis() {
        RedisServer server =
                RedisServer.builder().setting("maxclients", "10000").start();
        String uri = server.uri();
        List<ContenderSpec> main = List.of(
                ours("Redis", DEFAULTS, Mode.QUEUED, uri, ALL),
                ours("Redis", FIFO, Mode.FIFO, uri, CONTENDED),
                redisFloor("Redis", FLOOR, "set", uri, UNCONTENDED),
                redisFloor("Redis", BLPOP, "blpop", uri, CONTENDED),
                // Not held: taking the 10,000 locks became so slow that it was not over after six minutes.
                redisson("Redis", "Redisson RLock", "plain", uri, NO_HELD));
        List<ContenderSpec> others = new ArrayList<>();
        others.add(ours("Redis", POLLING, Mode.POLLING, uri, Set.of(CROWD, PROCESSES, SECTION)));
        others.add(redisson("Redis", "Redisson fair", "fair", uri, SHORT_LINES));
        others.add(redisson("Redis", "Redisson spin", "spin", uri, SHORT_LINES));
        others.add(redisson("Redis", "Redisson fenced", "fenced", uri, SHORT_LINES));
        for (String mode : List.of("spin", "pubsub")) {
            others.add(peer(
                    "Redis",
                    "Spring Redis " + mode,
                    "spring-redis",
                    "io.holdfast.peers.springredis.SpringRedisContender$Factory",
                    Map.of("uri", uri, "mode", mode),
                    SHORT_LINES));
        }
        return arena("Redis", main, others, uri, server, () -> {});
    }

    private Arena redisSynced() {
        RedisServer server =
                RedisServer.builder().appendOnly(RedisServer.Fsync.ALWAYS).start();
        String uri = server.uri();
        Set<Scenario> some = Set.of(FREE, SPREAD, CROWD, PROCESSES);
        return arena(
                REDIS_SYNCED,
                List.of(
                        ours(REDIS_SYNCED, DEFAULTS, Mode.QUEUED, uri, some),
                        ours(REDIS_SYNCED, FIFO, Mode.FIFO, uri, Set.of(CROWD, PROCESSES)),
                        redisFloor(REDIS_SYNCED, FLOOR, "set", uri, UNCONTENDED),
                        redisFloor(REDIS_SYNCED, BLPOP, "blpop", uri, Set.of(CROWD, PROCESSES)),
                        redisson(REDIS_SYNCED, "Redisson RLock", "plain", uri, some)),
                List.of(),
                uri,
                server,
                () -> {});
    }

    private Arena etcd() {
        EtcdServer server = EtcdServer.start();
        String uri = "etcd://127.0.0.1:" + server.port();
        return arena(
                "etcd",
                List.of(
                        ours("etcd", DEFAULTS, Mode.QUEUED, uri, ALL),
                        ours("etcd", FIFO, Mode.FIFO, uri, CONTENDED),
                        own("etcd", FLOOR, Kind.FLOOR, EtcdFloor.Factory.class, Map.of("uri", uri), UNCONTENDED),
                        jetcd("service", server.port())),
                List.of(jetcd("recipe", server.port())),
                uri,
                server,
                // What others have written and deleted makes etcd slower: everybody, the floor included, begins without
                // a past.
                () -> EtcdFloor.compact("127.0.0.1", server.port()));
    }

    private ContenderSpec jetcd(String lock, int port) {
        return limited(
                peer(
                        "etcd",
                        "jetcd " + lock,
                        "jetcd",
                        "io.holdfast.peers.jetcd.JetcdContender$Factory",
                        Map.of("endpoint", "http://127.0.0.1:" + port, "lock", lock),
                        NO_HELD),
                100);
    }

    private Arena zooKeeper() {
        ZooKeeperServer server =
                ZooKeeperServer.builder().tick(Duration.ofSeconds(2)).start();
        String uri = "zookeeper://127.0.0.1:" + server.port();
        Map<String, String> servers = Map.of("servers", server.connectString());
        return arena(
                "ZooKeeper",
                List.of(
                        ours("ZooKeeper", DEFAULTS, Mode.QUEUED, uri, ALL),
                        ours("ZooKeeper", FIFO, Mode.FIFO, uri, CONTENDED),
                        own("ZooKeeper", FLOOR, Kind.FLOOR, ZooKeeperFloor.Factory.class, servers, UNCONTENDED),
                        peer(
                                "ZooKeeper",
                                "Curator",
                                "curator",
                                "io.holdfast.peers.curator.CuratorContender$Factory",
                                servers,
                                NO_HELD)),
                List.of(),
                uri,
                server,
                () -> {});
    }

    private Arena mariaDb() {
        MariaDbServer server =
                MariaDbServer.builder().args("--max-connections=1500").start();
        return sql("MariaDB", server, server.jdbcUrl(), "GET_LOCK");
    }

    private Arena postgres() {
        PostgresServer server =
                PostgresServer.builder().args("-c", "max_connections=1500").start();
        return sql("PostgreSQL", server, server.jdbcUrl(), "advisory lock");
    }

    private Arena sql(String store, Server server, String url, String sessionLock) {
        String uri = url + (url.contains("?") ? "&" : "?") + "createSchema=true";
        List<ContenderSpec> main = List.of(
                ours(store, DEFAULTS, Mode.QUEUED, uri, ALL),
                ours(store, FIFO, Mode.FIFO, uri, CONTENDED),
                plainSql(store, FLOOR, Kind.FLOOR, url, "floor", UNCONTENDED),
                peer(
                        store,
                        "ShedLock",
                        "shedlock",
                        "io.holdfast.peers.shedlock.ShedLockContender$Factory",
                        Map.of("url", url),
                        SHORT_LINES),
                peer(
                        store,
                        "Spring JDBC",
                        "spring-jdbc",
                        "io.holdfast.peers.springjdbc.SpringJdbcContender$Factory",
                        Map.of("url", url),
                        SHORT_LINES));
        List<ContenderSpec> others = new ArrayList<>();
        others.add(limited(plainSql(store, sessionLock, Kind.BARE, url, "session", NO_HELD), 100));
        if (store.equals("MariaDB")) {
            others.add(plainSql(store, "unique key, insert and delete", Kind.BARE, url, "textbook", SHORT_LINES));
        }
        return arena(store, main, others, uri, server, () -> {});
    }

    private ContenderSpec plainSql(
            String store, String name, Kind kind, String url, String way, Set<Scenario> scenarios) {
        return own(store, name, kind, SqlLock.Factory.class, Map.of("url", url, "way", way), scenarios);
    }

    /** One JVM only: what the library itself costs. */
    private Arena memory() {
        Set<Scenario> inOneJvm = Set.of(FREE, SPREAD, CROWD, HELD);
        return new Arena(
                "memory",
                List.of(ours("memory", DEFAULTS, Mode.QUEUED, "memory:bench", inOneJvm)),
                List.of(),
                ServerProbe.blind(),
                Optional.empty(),
                () -> {},
                () -> {});
    }

    private static Arena arena(
            String store,
            List<ContenderSpec> main,
            List<ContenderSpec> others,
            String uri,
            Server server,
            Runnable beforeTurn) {
        ServerProbe probe = ServerProbes.of(StoreAddress.of(uri), OptionalLong.of(server.pid()));
        return new Arena(store, main, others, probe, Optional.of(server.address()), server, beforeTurn);
    }

    private ContenderSpec ours(String store, String name, Mode mode, String uri, Set<Scenario> scenarios) {
        return new ContenderSpec(
                name,
                store,
                Kind.OURS,
                HoldfastContender.Factory.class.getName(),
                Map.of("uri", uri, "mode", mode.key()),
                classPaths.own(),
                scenarios,
                true);
    }

    private ContenderSpec redisFloor(String store, String name, String way, String uri, Set<Scenario> scenarios) {
        return own(store, name, Kind.FLOOR, RedisFloor.Factory.class, Map.of("uri", uri, "way", way), scenarios);
    }

    private ContenderSpec redisson(String store, String name, String lock, String uri, Set<Scenario> scenarios) {
        // It renews locks it no longer holds: other contenders are measured while it is stopped.
        Map<String, String> settings = new HashMap<>(Map.of("uri", uri, "lock", lock, Arena.RESTLESS, "true"));
        return peer(
                store, name, "redisson", "io.holdfast.peers.redisson.RedissonContender$Factory", settings, scenarios);
    }

    private ContenderSpec own(
            String store,
            String name,
            Kind kind,
            Class<?> factory,
            Map<String, String> settings,
            Set<Scenario> scenarios) {
        return new ContenderSpec(
                name, store, kind, factory.getName(), settings, classPaths.own(), scenarios, kind == Kind.PEER);
    }

    private ContenderSpec peer(
            String store,
            String name,
            String module,
            String factory,
            Map<String, String> settings,
            Set<Scenario> scenarios) {
        return new ContenderSpec(name, store, Kind.PEER, factory, settings, classPaths.of(module), scenarios, true);
    }

    /** With a thousand waiters these would take longer to empty the line than anybody wants to wait. */
    private static ContenderSpec limited(ContenderSpec spec, int waiters) {
        return spec.with(Arena.MOST_WAITERS, Integer.toString(waiters));
    }
}
