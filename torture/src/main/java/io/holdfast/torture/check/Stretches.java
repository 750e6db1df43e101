package io.holdfast.torture.check;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Disjoint stretches of time. Not thread-safe. */
final class Stretches {

    private final NavigableMap<Long, Long> endByStart = new TreeMap<>();

    void add(long start, long end) {
        long from = start;
        long to = end;
        for (Map.Entry<Long, Long> other = endByStart.floorEntry(to);
                other != null && other.getValue() >= from;
                other = endByStart.floorEntry(to)) {
            from = Math.min(from, other.getKey());
            to = Math.max(to, other.getValue());
            endByStart.remove(other.getKey());
        }
        endByStart.put(from, to);
    }

    boolean anyBetween(long from, long to) {
        Map.Entry<Long, Long> last = endByStart.floorEntry(to);
        return last != null && last.getValue() >= from;
    }

    /** How much of the time from then to then they cover. */
    long covered(long from, long to) {
        long covered = 0;
        for (Map.Entry<Long, Long> stretch : endByStart.headMap(to, false).entrySet()) {
            covered += Math.max(0, Math.min(to, stretch.getValue()) - Math.max(from, stretch.getKey()));
        }
        return covered;
    }

    /** Start and end of each, in order. */
    Iterable<Map.Entry<Long, Long>> inOrder() {
        return endByStart.entrySet();
    }
}
