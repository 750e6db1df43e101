package io.holdfast.torture.stand;

import static io.holdfast.torture.nemesis.Fault.FULL;
import static io.holdfast.torture.nemesis.Fault.LATE_SWEEP;
import static io.holdfast.torture.nemesis.Fault.LEADER_KILL;
import static io.holdfast.torture.nemesis.Fault.PARTITION;
import static io.holdfast.torture.nemesis.Fault.READ_ONLY;
import static io.holdfast.torture.nemesis.Fault.SERVER_CLOCK;
import static io.holdfast.torture.nemesis.Fault.SERVER_KILL;
import static io.holdfast.torture.nemesis.Fault.SERVER_PAUSE;
import static io.holdfast.torture.nemesis.Fault.SERVER_WIPE;
import static io.holdfast.torture.nemesis.Fault.SLOT_MOVE;

import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.worker.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** A store we can start servers for. */
public enum LocalStore {
    REDIS(
            "Redis, one server, appendfsync always",
            SERVER_KILL,
            SERVER_WIPE,
            SERVER_PAUSE,
            FULL,
            READ_ONLY,
            SERVER_CLOCK),
    SENTINEL("Redis with Sentinel, two replicas", SERVER_KILL, SERVER_WIPE, SERVER_PAUSE, LEADER_KILL, PARTITION),
    SENTINEL_REPLICAS("the same with replicas=1", SERVER_KILL, SERVER_WIPE, SERVER_PAUSE, LEADER_KILL, PARTITION),
    CLUSTER("Redis Cluster, three primaries with a replica each", SERVER_KILL, SERVER_PAUSE, LEADER_KILL, SLOT_MOVE),
    REDLOCK("Redlock, five servers", SERVER_KILL, SERVER_WIPE, SERVER_PAUSE, LEADER_KILL, FULL, SERVER_CLOCK),
    ETCD("etcd, three servers", SERVER_KILL, SERVER_WIPE, SERVER_PAUSE, LEADER_KILL, PARTITION, FULL, LATE_SWEEP),
    ZOOKEEPER("ZooKeeper, three servers", SERVER_KILL, SERVER_WIPE, SERVER_PAUSE, LEADER_KILL, PARTITION),
    MARIADB("MariaDB", SERVER_KILL, SERVER_WIPE, SERVER_PAUSE, SERVER_CLOCK),
    POSTGRES("PostgreSQL", SERVER_KILL, SERVER_WIPE, SERVER_PAUSE, SERVER_CLOCK),
    FILE("files of one machine");

    /** Of the ZooKeeper servers. */
    public static final Duration ZOOKEEPER_TICK = Duration.ofMillis(500);

    private final String title;
    private final Set<Fault> faultsOfServers;

    LocalStore(String title, Fault... faultsOfServers) {
        this.title = title;
        this.faultsOfServers = Set.copyOf(Arrays.asList(faultsOfServers));
    }

    /** What it is, for people. */
    public String title() {
        return title;
    }

    /** How people write it: {@code redis}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * The stores a word means: {@code redis} with its Sentinel shapes, {@code all}.
     *
     * @throws IllegalArgumentException naming what there is
     */
    public static List<LocalStore> parse(String word) {
        List<LocalStore> meant = Arrays.stream(values())
                .filter(store -> word.equals("all") || store.word().equals(word))
                .toList();
        if (meant.isEmpty()) {
            throw new IllegalArgumentException("there is no local store '" + word + "'; there are all, "
                    + String.join(
                            ", ", Arrays.stream(values()).map(LocalStore::word).toList()));
        }
        return meant;
    }

    /** The faults that can happen to it. */
    public Set<Fault> faults() {
        Set<Fault> faults = EnumSet.copyOf(List.of(
                Fault.KILL_HOLDER,
                Fault.KILL_WAITER,
                Fault.PAUSE,
                Fault.STALL,
                Fault.MISCHIEF,
                Fault.CLIENT_CLOCK,
                Fault.EXECUTOR));
        if (this != FILE && this != SENTINEL && this != SENTINEL_REPLICAS && this != CLUSTER) {
            faults.addAll(List.of(Fault.CUT, Fault.CUT_REQUESTS, Fault.CUT_REPLIES, Fault.DELAY, Fault.RESET));
        }
        if (this != FILE) {
            // Who is stopped inside the guard of a file keeps it: the one exception from P4.
            faults.add(Fault.STOP);
        }
        faults.addAll(faultsOfServers);
        return faults;
    }

    /** The faults that can come together in one run: a partition and late answers need servers reached in ways of their own. */
    public Set<Fault> mixedFaults() {
        Set<Fault> faults = faults();
        faults.removeAll(List.of(PARTITION, LATE_SWEEP));
        if (!WallClock.isPossible()) {
            faults.removeAll(List.of(SERVER_CLOCK, Fault.CLIENT_CLOCK));
        }
        return faults;
    }

    public Set<Workload> workloads() {
        return this == REDLOCK ? EnumSet.of(Workload.EXCLUSIVE, Workload.SHARED) : EnumSet.allOf(Workload.class);
    }

    /** By how much a lease ends locally before its ttl, beyond what is usual. */
    public Duration slack() {
        return this == ZOOKEEPER ? ZOOKEEPER_TICK : Duration.ofMillis(2);
    }

    /** Whether waiters are promised to be served in order of arrival. */
    public boolean servesInOrder() {
        return this != REDLOCK && this != MARIADB && this != POSTGRES;
    }

    /** Whether it is more than files. */
    public boolean needsServers() {
        return this != FILE;
    }

    /**
     * Starts its servers.
     *
     * @param faults what is going to happen to them
     * @param directory for what the run needs beside them; everybody may read it
     * @throws NotPossibleException if this is not a build from source, or the servers do not start
     */
    public Stand start(Set<Fault> faults, Path directory) {
        return needsServers()
                ? LocalServers.find().start(this, faults, directory)
                : new FileStand(directory.resolve("locks"));
    }
}
