package io.holdfast.torture.check;

import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** When a run had faults: the times between are when promises of order and progress are due. */
final class Faults {

    /** Disjoint stretches with at least one fault, by their start. */
    private final NavigableMap<Long, Long> stretches = new TreeMap<>();

    private final long firstNanos;
    private final long lastNanos;
    private long count;

    /** @param events in order of time */
    Faults(List<Event> events) {
        firstNanos = events.isEmpty() ? 0 : events.get(0).nanos();
        lastNanos = events.isEmpty() ? 0 : events.get(events.size() - 1).nanos();
        Map<String, Long> active = new HashMap<>();
        for (Event event : events) {
            if (event.operation() == Operation.FAULT) {
                String fault = event.value() + " on " + event.detail();
                if (event.phase() == Phase.INVOKE) {
                    count++;
                    active.put(fault, event.nanos());
                } else {
                    Long start = active.remove(fault);
                    add(start == null ? event.nanos() : start, event.nanos());
                }
            }
        }
        active.values().forEach(start -> add(start, Long.MAX_VALUE));
    }

    long count() {
        return count;
    }

    boolean anyBetween(long from, long to) {
        Map.Entry<Long, Long> last = stretches.floorEntry(to);
        return last != null && last.getValue() >= from;
    }

    /** The stretches without a fault, from the first event to the last. */
    List<Calm> calms() {
        List<Calm> calms = new ArrayList<>();
        long from = firstNanos;
        for (Map.Entry<Long, Long> stretch : stretches.entrySet()) {
            if (stretch.getKey() > from) {
                calms.add(new Calm(from, stretch.getKey()));
            }
            from = stretch.getValue();
        }
        if (from < lastNanos) {
            calms.add(new Calm(from, lastNanos));
        }
        return calms;
    }

    private void add(long start, long end) {
        long from = start;
        long to = end;
        for (Map.Entry<Long, Long> other = stretches.floorEntry(to);
                other != null && other.getValue() >= from;
                other = stretches.floorEntry(to)) {
            from = Math.min(from, other.getKey());
            to = Math.max(to, other.getValue());
            stretches.remove(other.getKey());
        }
        stretches.put(from, to);
    }

    /** A stretch without faults. */
    record Calm(long fromNanos, long toNanos) {}
}
