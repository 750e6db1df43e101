package io.holdfast.torture.cell;

import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.worker.Workload;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * What to run: a store, what is going to happen to it, and for how long. Immutable.
 *
 * @param store the store's name in reports
 * @param title the name of what happens: a fault, or {@code mixed}
 * @param faults what happens
 * @param workloads what the workers do
 * @param length how long faults come; what follows, healing and tidying up, takes some seconds more
 * @param ttl of all leases
 * @param workers how many processes
 * @param seed of the schedule and of the workers
 */
public record Cell(
        String store,
        String title,
        Set<Fault> faults,
        Set<Workload> workloads,
        Duration length,
        Duration ttl,
        int workers,
        long seed) {

    public static final String MIXED = "mixed";

    public Cell {
        faults = faults.isEmpty() ? Set.of() : Set.copyOf(EnumSet.copyOf(faults));
        workloads = Set.copyOf(workloads);
    }

    /** Names it in files and messages: {@code redis-pause}. */
    public String name() {
        return store + "-" + title;
    }
}
