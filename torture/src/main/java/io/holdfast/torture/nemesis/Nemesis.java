package io.holdfast.torture.nemesis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Carries a schedule out: faults of clients on one thread, those of servers on another. */
public final class Nemesis {

    private final Schedule schedule;
    private final Injector injector;
    private final FaultLog log;

    public Nemesis(Schedule schedule, Injector injector, FaultLog log) {
        this.schedule = schedule;
        this.injector = injector;
        this.log = log;
    }

    /** Returns when the run's time is over and every fault has been healed. */
    public void run() throws InterruptedException {
        long startNanos = System.nanoTime();
        CompletableFuture<Void> servers = track("servers", startNanos, onlyOf(true));
        CompletableFuture<Void> clients = track("clients", startNanos, onlyOf(false));
        try {
            CompletableFuture.allOf(servers, clients).join();
        } catch (CompletionException e) {
            throw new IllegalStateException("The nemesis failed", e.getCause());
        }
        sleepUntil(startNanos, schedule.length());
    }

    private List<PlannedFault> onlyOf(boolean servers) {
        return schedule.faults().stream()
                .filter(planned -> planned.fault().isOfServers() == servers)
                .toList();
    }

    private CompletableFuture<Void> track(String name, long startNanos, List<PlannedFault> faults) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        for (PlannedFault fault : faults) {
                            sleepUntil(startNanos, fault.at());
                            inflict(fault, startNanos);
                        }
                        done.complete(null);
                    } catch (InterruptedException | RuntimeException e) {
                        done.completeExceptionally(e);
                    }
                },
                "holdfast-nemesis-" + name);
        thread.setDaemon(true);
        thread.start();
        return done;
    }

    private void inflict(PlannedFault fault, long startNanos) throws InterruptedException {
        Optional<Healing> begun;
        long beforeNanos = System.nanoTime();
        try {
            begun = injector.begin(fault);
        } catch (Exception e) {
            log.failed(fault, String.valueOf(e));
            return;
        }
        if (begun.isEmpty()) {
            return;
        }
        Healing healing = begun.get();
        log.began(fault, healing.target(), beforeNanos);
        try {
            sleepUntil(startNanos, fault.end());
        } finally {
            try {
                healing.end().run();
                log.healed(fault, healing.target());
            } catch (Exception e) {
                log.failed(fault, "not healed: " + e);
            }
        }
    }

    private static void sleepUntil(long startNanos, Duration since) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(startNanos + since.toNanos() - System.nanoTime());
    }
}
