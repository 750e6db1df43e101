package io.holdfast.quorum;

import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Request;
import io.holdfast.spi.TimeSource;
import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * At how many nodes each lease is known to be lost: one that a minority lost lives on. Thread-safe.
 *
 * <p>A lease that expires is not always released, so what was not renewed for two ttls is swept.
 */
final class LossTally {

    private record Entry(BitSet nodes, long horizonNanos) {}

    private static final int SWEEP_EVERY = 512;

    private final TimeSource time;
    private final Map<OwnerId, Entry> leases = new ConcurrentHashMap<>();
    private final AtomicInteger tracked = new AtomicInteger();

    LossTally(TimeSource time) {
        this.time = time;
    }

    void track(Request request) {
        leases.put(request.owner(), new Entry(new BitSet(), horizon(request)));
        if (tracked.incrementAndGet() % SWEEP_EVERY == 0) {
            long now = time.nanoTime();
            leases.values().removeIf(entry -> now - entry.horizonNanos > 0);
        }
    }

    void renewed(Request request) {
        leases.computeIfPresent(request.owner(), (owner, entry) -> new Entry(entry.nodes, horizon(request)));
    }

    void forget(OwnerId owner) {
        leases.remove(owner);
    }

    /** Notes a loss. Returns at how many nodes the lease is lost by now; 0 if nobody holds it. */
    int lost(OwnerId owner, int node) {
        Entry noted = leases.computeIfPresent(owner, (key, entry) -> {
            BitSet nodes = (BitSet) entry.nodes.clone();
            nodes.set(node);
            return new Entry(nodes, entry.horizonNanos);
        });
        return noted == null ? 0 : noted.nodes.cardinality();
    }

    private long horizon(Request request) {
        return time.nanoTime() + 2 * request.ttl().toNanos();
    }
}
