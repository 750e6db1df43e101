package io.holdfast.torture;

import io.holdfast.torture.cell.Cell;
import io.holdfast.torture.check.Rules;
import io.holdfast.torture.nemesis.Fault;
import io.holdfast.torture.nemesis.Schedule;
import io.holdfast.torture.stand.LocalStore;
import io.holdfast.torture.stand.OwnStore;
import io.holdfast.torture.stand.Stand;
import io.holdfast.torture.worker.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A cell and the store it runs on.
 *
 * @param cell what to run
 * @param rules what is promised there
 * @param opener gives the store
 */
public record Job(Cell cell, Rules rules, Opener opener) {

    /** Gives the store a cell runs on, with the cell's directory for what it needs. */
    @FunctionalInterface
    public interface Opener {
        Stand open(Path directory);
    }

    /**
     * How every cell of a campaign is run.
     *
     * @param length how long faults come
     * @param ttl of all leases
     * @param workers how many processes
     * @param seed from which the seeds of the cells follow
     */
    public record Terms(Duration length, Duration ttl, int workers, long seed) {
        long seedOf(String cellName) {
            return (seed * 31 + cellName.hashCode()) & Long.MAX_VALUE;
        }
    }

    /** Which faults come when. */
    public Schedule schedule() {
        return Schedule.plan(cell.seed(), cell.faults(), cell.length(), cell.ttl());
    }

    /** All faults at once on a store that is already there. */
    public static Job on(OwnStore store, Set<Fault> faults, Set<Workload> workloads, Terms terms) {
        String name = store.shown().replaceAll("[:/].*", "");
        Cell cell = new Cell(
                name, titleOf(faults), faults, workloads, terms.length(), terms.ttl(), terms.workers(), terms.seed());
        Rules rules = name.equals("zookeeper") ? Rules.standard().withSlack(Duration.ofSeconds(2)) : Rules.standard();
        return new Job(cell, rules, directory -> store);
    }

    /** Each of the faults alone and all of them mixed, on servers of our own; a fault that a store cannot have is left out. */
    public static List<Job> matrix(Collection<LocalStore> stores, Set<Fault> faults, boolean mixed, Terms terms) {
        List<Job> jobs = new ArrayList<>();
        for (LocalStore store : stores) {
            for (Fault fault : faults) {
                if (store.faults().contains(fault)) {
                    jobs.add(local(store, fault.word(), Set.of(fault), terms));
                }
            }
            if (mixed) {
                Set<Fault> together = store.mixedFaults();
                together.retainAll(faults);
                jobs.add(local(store, Cell.MIXED, together, terms));
            }
        }
        // By fault, so that neighbours, which run at the same time, are different stores.
        jobs.sort(Comparator.comparing(job -> job.cell().title()));
        return jobs;
    }

    /** One cell on servers of our own. */
    public static Job local(LocalStore store, String title, Set<Fault> faults, Terms terms) {
        Cell cell = new Cell(
                store.word(),
                title,
                faults,
                store.workloads(),
                terms.length(),
                terms.ttl(),
                terms.workers(),
                terms.seedOf(store.word() + "-" + title));
        Rules rules = Rules.standard()
                .withSlack(store.slack())
                .withOrder(store.servesInOrder() ? Rules.Order.ARRIVAL : Rules.Order.ANY);
        Set<Fault> happening = faults.isEmpty() ? Set.of() : EnumSet.copyOf(faults);
        return new Job(cell, rules, directory -> store.start(happening, directory));
    }

    private static String titleOf(Set<Fault> faults) {
        return faults.size() == 1
                ? faults.iterator().next().word()
                : faults.stream()
                        .map(fault -> fault.family().word())
                        .distinct()
                        .sorted()
                        .collect(Collectors.joining("-"));
    }
}
