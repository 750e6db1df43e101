package io.holdfast.spring.boot;

import io.holdfast.Demand;
import io.holdfast.LockEvent.Outcome;
import io.holdfast.Loss;
import io.holdfast.ReleaseResult;
import io.holdfast.spi.LockObserver;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** What one client holds and waits for now, and how long that took lately. Thread-safe. */
final class LocalLeases implements LockObserver {

    /**
     * A lease or an acquisition under way.
     *
     * @param token of a lease
     * @param thread that asked
     */
    record Entry(String lock, String demand, Optional<Long> token, String thread, Instant since) {

        static Entry of(String lock, Demand demand, Optional<Long> token) {
            return new Entry(
                    lock, demand.toString(), token, Thread.currentThread().getName(), Instant.now());
        }
    }

    private final Map<Long, Entry> held = new ConcurrentHashMap<>();
    private final Map<Long, Entry> waiting = new ConcurrentHashMap<>();
    private final RecentTimes waits = new RecentTimes();
    private final RecentTimes holds = new RecentTimes();

    @Override
    public void started(Acquisition acquisition) {
        waiting.put(acquisition.id(), Entry.of(acquisition.lock(), acquisition.demand(), Optional.empty()));
    }

    @Override
    public void acquired(Acquisition acquisition, Way way, long token, Duration waited) {
        waiting.remove(acquisition.id());
        waits.record(waited);
        held.put(acquisition.id(), Entry.of(acquisition.lock(), acquisition.demand(), Optional.of(token)));
    }

    @Override
    public void unsuccessful(Acquisition acquisition, Outcome outcome, Duration waited) {
        waiting.remove(acquisition.id());
        waits.record(waited);
    }

    @Override
    public void released(Acquisition acquisition, long token, ReleaseResult result, Duration heldFor) {
        if (held.remove(acquisition.id()) != null) {
            holds.record(heldFor);
        }
    }

    @Override
    public void lost(Acquisition acquisition, Loss loss, Duration heldFor) {
        if (held.remove(acquisition.id()) != null) {
            holds.record(heldFor);
        }
    }

    List<Entry> held() {
        return sorted(held);
    }

    List<Entry> waiting() {
        return sorted(waiting);
    }

    RecentTimes waits() {
        return waits;
    }

    RecentTimes holds() {
        return holds;
    }

    private static List<Entry> sorted(Map<Long, Entry> entries) {
        return entries.values().stream()
                .sorted(Comparator.comparing(Entry::since))
                .toList();
    }
}
