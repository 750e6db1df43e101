package io.holdfast.torture.check;

import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import io.holdfast.torture.nemesis.Fault;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** When a run had faults: the times between are when promises of order and progress are due. */
final class Faults {

    /** With at least one fault. */
    private final Stretches stretches = new Stretches();

    /** The same without those during which locks must be served. */
    private final Stretches excuses = new Stretches();

    private final List<Stop> stops = new ArrayList<>();
    private final long firstNanos;
    private final long lastNanos;
    private long count;

    /** @param events in order of time */
    Faults(List<Event> events) {
        firstNanos = events.isEmpty() ? 0 : events.get(0).nanos();
        lastNanos = events.isEmpty() ? 0 : events.get(events.size() - 1).nanos();
        Map<String, Started> active = new HashMap<>();
        for (Event event : events) {
            if (event.operation() == Operation.FAULT) {
                String fault = event.value() + " on " + event.detail();
                if (event.phase() == Phase.INVOKE) {
                    count++;
                    Started unhealed = active.put(fault, Started.by(event));
                    if (unhealed != null) {
                        add(unhealed, event.nanos());
                    }
                } else {
                    Started start = active.remove(fault);
                    add(start == null ? Started.by(event) : start, event.nanos());
                }
            }
        }
        active.values().forEach(start -> add(start, Long.MAX_VALUE));
    }

    private record Started(long nanos, Optional<Fault> fault, String target) {

        static Started by(Event event) {
            Optional<Fault> named = Arrays.stream(Fault.values())
                    .filter(fault -> fault.word().equals(String.valueOf(event.value())))
                    .findFirst();
            return new Started(event.nanos(), named, String.valueOf(event.detail()));
        }
    }

    private record Stop(String target, long fromNanos, long toNanos) {}

    /** Whether a process was stopped then, so that its own waits say nothing. */
    boolean isStopped(String process, long from, long to) {
        return stops.stream()
                .anyMatch(stop -> process.startsWith(stop.target()) && stop.fromNanos() < to && stop.toNanos() > from);
    }

    long count() {
        return count;
    }

    boolean anyBetween(long from, long to) {
        return stretches.anyBetween(from, to);
    }

    /** The stretches without a fault that excuses a standstill, from the first event to the last. */
    List<Calm> calms() {
        List<Calm> calms = new ArrayList<>();
        long from = firstNanos;
        for (Map.Entry<Long, Long> stretch : excuses.inOrder()) {
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

    private void add(Started start, long end) {
        stretches.add(start.nanos(), end);
        if (start.fault().filter(Fault::isJudgedWhileItLasts).isEmpty()) {
            excuses.add(start.nanos(), end);
        }
        if (start.fault().equals(Optional.of(Fault.STOP))) {
            stops.add(new Stop(start.target(), start.nanos(), end));
        }
    }

    /** A stretch without faults. */
    record Calm(long fromNanos, long toNanos) {}
}
