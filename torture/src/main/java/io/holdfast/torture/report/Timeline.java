package io.holdfast.torture.report;

import io.holdfast.Demand;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A history as bars: who waited, who held, and what went wrong meanwhile. Immutable once made. */
final class Timeline {

    /**
     * A stretch of time.
     *
     * @param fromNanos where it begins
     * @param toNanos where it ends
     * @param kind of a hold: exclusive, shared or permits
     * @param token of a hold
     * @param how it ended
     */
    record Bar(long fromNanos, long toNanos, String kind, long token, String how) {}

    /** What one process did with one lock. */
    record Row(List<Bar> waits, List<Bar> holds) {}

    /** A fault while it lasted. */
    record Band(long fromNanos, long toNanos, String name, String target) {}

    private final long startNanos;
    private final long endNanos;
    private final Map<String, Map<String, Row>> rows = new TreeMap<>();
    private final List<Band> bands = new ArrayList<>();

    private Timeline(long startNanos, long endNanos) {
        this.startNanos = startNanos;
        this.endNanos = endNanos;
    }

    static Timeline of(List<Event> history) {
        if (history.isEmpty()) {
            return new Timeline(0, 0);
        }
        Timeline timeline = new Timeline(
                history.get(0).nanos(), history.get(history.size() - 1).nanos());
        Map<String, List<Event>> byAcquisition = new HashMap<>();
        Map<String, Event> openFaults = new HashMap<>();
        for (Event event : history) {
            if (event.acquisition() != null) {
                byAcquisition
                        .computeIfAbsent(event.acquisition(), id -> new ArrayList<>())
                        .add(event);
            } else if (event.operation() == Operation.FAULT) {
                timeline.fault(event, openFaults);
            }
        }
        openFaults.values().forEach(fault -> timeline.band(fault, timeline.endNanos));
        byAcquisition.values().forEach(timeline::acquisition);
        timeline.bands.sort((a, b) -> Long.compare(a.fromNanos(), b.fromNanos()));
        return timeline;
    }

    long startNanos() {
        return startNanos;
    }

    long endNanos() {
        return endNanos;
    }

    /** By lock and process. */
    Map<String, Map<String, Row>> rows() {
        return rows;
    }

    List<Band> bands() {
        return bands;
    }

    private void fault(Event event, Map<String, Event> open) {
        String key = event.value() + " " + event.detail();
        if (event.phase() == Phase.INVOKE) {
            open.put(key, event);
        } else {
            Event begin = open.remove(key);
            band(begin == null ? event : begin, event.nanos());
        }
    }

    private void band(Event begin, long toNanos) {
        bands.add(new Band(
                begin.nanos(), toNanos, String.valueOf(begin.value()), Objects.requireNonNullElse(begin.detail(), "")));
    }

    private void acquisition(List<Event> events) {
        Event invoke = events.get(0);
        if (!invoke.is(Operation.ACQUIRE, Phase.INVOKE) || invoke.lock() == null) {
            return;
        }
        Row row = rows.computeIfAbsent(invoke.lock(), lock -> new TreeMap<>())
                .computeIfAbsent(invoke.process(), process -> new Row(new ArrayList<>(), new ArrayList<>()));
        Event outcome = events.stream()
                .filter(event -> event.operation() == Operation.ACQUIRE && event.phase() != Phase.INVOKE)
                .findFirst()
                .orElse(null);
        if (outcome == null) {
            // Killed while it waited; when exactly, nobody wrote down.
            row.waits().add(new Bar(invoke.nanos(), invoke.nanos(), "", 0, "never answered"));
            return;
        }
        String how = outcome.phase() == Phase.OK ? "granted" : Objects.requireNonNullElse(outcome.detail(), "failed");
        row.waits().add(new Bar(invoke.nanos(), outcome.nanos(), "", 0, how));
        if (outcome.phase() == Phase.OK && outcome.token() != null) {
            row.holds().add(hold(invoke.demand(), outcome, events));
        }
    }

    private Bar hold(@Nullable Demand demand, Event granted, List<Event> events) {
        String kind =
                demand instanceof Demand.Shared ? "shared" : demand instanceof Demand.Permits ? "permits" : "exclusive";
        long token = Objects.requireNonNull(granted.token());
        long until = granted.nanos();
        for (Event event : events) {
            if (event.operation() == Operation.LOST) {
                return new Bar(granted.nanos(), event.nanos(), kind, token, "lost: " + event.detail());
            }
            if (event.is(Operation.RELEASE, Phase.INVOKE)) {
                return new Bar(granted.nanos(), event.nanos(), kind, token, releasedHow(events));
            }
            if (event.untilNanos() != null) {
                until = event.untilNanos();
            }
        }
        return new Bar(granted.nanos(), Math.min(until, endNanos), kind, token, "crashed; until the end of its lease");
    }

    private static String releasedHow(List<Event> events) {
        return events.stream()
                .filter(event -> event.operation() == Operation.RELEASE && event.phase() != Phase.INVOKE)
                .findFirst()
                .map(event -> switch (event.phase()) {
                    case OK -> "released";
                    case TOLD_LOST -> "released too late";
                    default -> "release pending";
                })
                .orElse("crashed while releasing");
    }
}
