package io.holdfast.torture.local;

import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.nemesis.Healing;
import io.holdfast.torture.nemesis.PlannedFault;
import io.holdfast.torture.stand.LocalStore;
import io.holdfast.torture.stand.NotPossibleException;
import io.holdfast.torture.stand.Stand;
import io.holdfast.torture.worker.ChildProcesses;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;

/** Three servers of one store, each in a network namespace of its own, so that one can be cut off from the other two. */
final class PartitionStand implements Stand {

    private static final int SERVERS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Namespaces network;
    private final Path directory;
    private final List<Process> processes = new ArrayList<>();
    private final Members members;

    private PartitionStand(LocalStore store, Namespaces network, Path directory) {
        this.network = network;
        this.directory = directory;
        this.members = switch (store) {
            case ETCD -> new EtcdMembers();
            case ZOOKEEPER -> new ZooKeeperMembers();
            case SENTINEL -> new RedisMembers("");
            case SENTINEL_REPLICAS -> new RedisMembers("?replicas=1");
            default -> throw new NotPossibleException(store.word() + " has no servers that talk to each other");
        };
    }

    static Stand start(LocalStore store, Path directory) {
        PartitionStand stand = new PartitionStand(store, Namespaces.create(SERVERS), directory);
        boolean started = false;
        try {
            for (int number = 1; number <= SERVERS; number++) {
                stand.members.launch(number);
            }
            stand.await(stand.members::isReady);
            started = true;
            return stand;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot start " + store.word() + " in namespaces", e);
        } finally {
            if (!started) {
                stand.close();
            }
        }
    }

    @Override
    public List<InetSocketAddress> addresses() {
        return members.dialled();
    }

    @Override
    public String uri(List<InetSocketAddress> dialled) {
        return members.uri(dialled);
    }

    @Override
    public Duration failover() {
        return Duration.ofSeconds(15);
    }

    @Override
    public Optional<Healing> begin(PlannedFault fault) {
        if (fault.fault() != Fault.PARTITION) {
            return Optional.empty();
        }
        // Mostly who leads: cutting off a follower is the lesser harm.
        OptionalInt leader = first(members::leads);
        int cutOff = leader.isPresent() && fault.pick("leader", 4) > 0
                ? leader.getAsInt()
                : 1 + fault.pick("server", SERVERS);
        network.isolate(cutOff);
        String who = "server " + cutOff + (leader.equals(OptionalInt.of(cutOff)) ? ", which leads" : "");
        return Optional.of(Healing.of(who, () -> network.heal(cutOff)));
    }

    @Override
    public void close() {
        processes.forEach(Process::destroyForcibly);
        network.close();
    }

    private static OptionalInt first(IntPredicate which) {
        return IntStream.rangeClosed(1, SERVERS).filter(which).findFirst();
    }

    private void await(BooleanSupplier ready) {
        long endNanos = System.nanoTime() + PATIENCE.toNanos();
        try {
            while (!ready.getAsBoolean()) {
                if (System.nanoTime() - endNanos > 0) {
                    throw new IllegalStateException("The servers in namespaces do not serve within "
                            + PATIENCE.toSeconds() + " s; their logs are in " + directory);
                }
                TimeUnit.MILLISECONDS.sleep(100);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while servers start", e);
        }
    }

    private void launch(int number, String name, List<String> command) {
        processes.add(ChildProcesses.start(new ProcessBuilder(network.in(number, command))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name + "-" + number + ".log").toFile())));
    }

    private List<InetSocketAddress> all(int port) {
        return IntStream.rangeClosed(1, SERVERS)
                .mapToObj(number -> network.address(number, port))
                .toList();
    }

    /** The servers of one kind of store. */
    private interface Members {

        void launch(int number) throws IOException;

        boolean isReady();

        boolean leads(int number);

        List<InetSocketAddress> dialled();

        String uri(List<InetSocketAddress> dialled);
    }

    private final class EtcdMembers implements Members {

        @Override
        public void launch(int number) {
            String client = "http://" + network.host(number) + ":2379";
            String peer = "http://" + network.host(number) + ":2380";
            List<String> cluster = IntStream.rangeClosed(1, SERVERS)
                    .mapToObj(each -> "n" + each + "=http://" + network.host(each) + ":2380")
                    .toList();
            List<String> command = new ArrayList<>(List.of("etcd", "--name", "n" + number, "--unsafe-no-fsync"));
            command.addAll(List.of(
                    "--data-dir", directory.resolve("etcd-data-" + number).toString()));
            command.addAll(List.of("--listen-client-urls", client, "--advertise-client-urls", client));
            command.addAll(List.of("--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer));
            command.addAll(List.of("--initial-cluster", String.join(",", cluster)));
            command.addAll(List.of("--logger", "zap", "--log-level", "warn"));
            PartitionStand.this.launch(number, "etcd", command);
        }

        @Override
        public boolean isReady() {
            return IntStream.rangeClosed(1, SERVERS)
                    .allMatch(number -> Dialogue.ask(
                                    network.address(number, 2379), "GET /health HTTP/1.0\r\nHost: etcd\r\n\r\n")
                            .contains("\"health\":\"true\""));
        }

        @Override
        public boolean leads(int number) {
            String status = Dialogue.ask(
                    network.address(number, 2379),
                    "POST /v3/maintenance/status HTTP/1.0\r\nHost: etcd\r\nContent-Length: 2\r\n\r\n{}");
            String leader = field(status, "leader");
            return !leader.isEmpty() && leader.equals(field(status, "member_id"));
        }

        private String field(String json, String name) {
            int start = json.indexOf("\"" + name + "\":\"");
            return start < 0 ? "" : json.substring(start + name.length() + 4).split("\"", 2)[0];
        }

        @Override
        public List<InetSocketAddress> dialled() {
            return all(2379);
        }

        @Override
        public String uri(List<InetSocketAddress> dialled) {
            return "etcd://" + Stand.hosts(dialled);
        }
    }

    private final class ZooKeeperMembers implements Members {

        @Override
        public void launch(int number) throws IOException {
            Path data = Files.createDirectories(directory.resolve("zookeeper-data-" + number));
            Files.writeString(data.resolve("myid"), number + "\n");
            List<String> lines = new ArrayList<>(List.of(
                    "dataDir=" + data,
                    "admin.enableServer=false",
                    "4lw.commands.whitelist=*",
                    "maxClientCnxns=0",
                    "tickTime=" + LocalStore.ZOOKEEPER_TICK.toMillis(),
                    "initLimit=60",
                    // A leader that hears of nobody steps down after this many ticks.
                    "syncLimit=4",
                    "forceSync=no",
                    "clientPortAddress=" + network.host(number),
                    "clientPort=2181"));
            for (int each = 1; each <= SERVERS; each++) {
                lines.add("server." + each + "=" + network.host(each) + ":2888:3888");
            }
            Path configuration = Files.write(data.resolve("zoo.cfg"), lines);
            PartitionStand.this.launch(
                    number,
                    "zookeeper",
                    List.of(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx256m",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
                            configuration.toString()));
        }

        @Override
        public boolean isReady() {
            return IntStream.rangeClosed(1, SERVERS).allMatch(number -> says(number, "Mode: "));
        }

        @Override
        public boolean leads(int number) {
            return says(number, "Mode: leader");
        }

        private boolean says(int number, String text) {
            return Dialogue.ask(network.address(number, 2181), "srvr").contains(text);
        }

        @Override
        public List<InetSocketAddress> dialled() {
            return all(2181);
        }

        @Override
        public String uri(List<InetSocketAddress> dialled) {
            return Stands.zookeeperUri(dialled);
        }
    }

    private final class RedisMembers implements Members {

        private final String parameters;

        RedisMembers(String parameters) {
            this.parameters = parameters;
        }

        @Override
        public void launch(int number) throws IOException {
            Path data = Files.createDirectories(directory.resolve("redis-data-" + number));
            List<String> server = new ArrayList<>(List.of(
                    "bind " + network.host(number),
                    "port 6379",
                    "dir " + data,
                    "save \"\"",
                    "appendonly yes",
                    "protected-mode no",
                    "repl-diskless-sync-delay 0"));
            if (number > 1) {
                server.add("replicaof " + network.host(1) + " 6379");
            }
            Path configuration = Files.write(data.resolve("redis.conf"), server);
            PartitionStand.this.launch(number, "redis", List.of("redis-server", configuration.toString()));
            Path watching = Files.write(
                    data.resolve("sentinel.conf"),
                    List.of(
                            "bind " + network.host(number),
                            "port 26379",
                            "dir " + data,
                            "protected-mode no",
                            "sentinel monitor holdfast " + network.host(1) + " 6379 2",
                            "sentinel down-after-milliseconds holdfast 2000",
                            "sentinel failover-timeout holdfast 10000"));
            PartitionStand.this.launch(number, "sentinel", List.of("redis-server", watching.toString(), "--sentinel"));
        }

        @Override
        public boolean isReady() {
            return Dialogue.ask(network.address(1, 6379), "INFO replication\r\nQUIT\r\n")
                            .contains("connected_slaves:" + (SERVERS - 1))
                    && IntStream.rangeClosed(1, SERVERS).allMatch(this::sentinelIsReady);
        }

        private boolean sentinelIsReady(int number) {
            String view = Dialogue.ask(network.address(number, 26379), "INFO sentinel\r\nQUIT\r\n");
            return view.contains("slaves=" + (SERVERS - 1)) && view.contains("sentinels=" + SERVERS);
        }

        @Override
        public boolean leads(int number) {
            return Dialogue.ask(network.address(number, 6379), "INFO replication\r\nQUIT\r\n")
                    .contains("role:master");
        }

        /** Nothing a proxy could stand before: clients are told where the primary is. */
        @Override
        public List<InetSocketAddress> dialled() {
            return List.of();
        }

        @Override
        public String uri(List<InetSocketAddress> dialled) {
            return "redis-sentinel://" + Stand.hosts(all(26379)) + "/holdfast" + parameters;
        }
    }
}
