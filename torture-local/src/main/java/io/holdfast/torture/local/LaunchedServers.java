package io.holdfast.torture.local;

import io.holdfast.servers.process.ServerStartException;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.stand.LocalServers;
import io.holdfast.torture.stand.LocalStore;
import io.holdfast.torture.stand.NotPossibleException;
import io.holdfast.torture.stand.Stand;
import java.nio.file.Path;
import java.util.Set;

/** Starts real servers on this machine. Thread-safe. */
public final class LaunchedServers implements LocalServers {

    @Override
    public Stand start(LocalStore store, Set<Fault> faults, Path directory) {
        try {
            return faults.contains(Fault.PARTITION)
                    ? PartitionStand.start(store, directory)
                    : start(store, new Stands(faults, directory));
        } catch (ServerStartException e) {
            throw new NotPossibleException(String.valueOf(e.getMessage()), e);
        }
    }

    private static Stand start(LocalStore store, Stands stands) {
        return switch (store) {
            case REDIS -> stands.redis();
            case SENTINEL -> stands.sentinel("");
            case SENTINEL_REPLICAS -> stands.sentinel("?replicas=1");
            case CLUSTER -> stands.cluster();
            case REDLOCK -> stands.redlock();
            case ETCD -> stands.etcd();
            case ZOOKEEPER -> stands.zookeeper();
            case MARIADB -> stands.mariadb();
            case POSTGRES -> stands.postgres();
            case FILE -> throw new IllegalArgumentException(store.word() + " has no servers");
        };
    }
}
