package io.holdfast.torture.report;

import static io.holdfast.torture.check.Promise.BELIEF;
import static io.holdfast.torture.check.Promise.EXCLUSION;
import static io.holdfast.torture.check.Promise.KEPT;
import static io.holdfast.torture.check.Promise.ORDER;
import static io.holdfast.torture.check.Promise.PROGRESS;
import static io.holdfast.torture.check.Promise.TOKENS;

import io.holdfast.torture.check.Promise;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What stores do not promise, as their pages say in the first lines. A promise broken here is shown as such, not as kept; a
 * limit belongs into this list only once it stands in the store's page.
 */
final class DocumentedLimits {

    /**
     * A limit.
     *
     * @param stores whose
     * @param titles the cells in which it shows
     * @param promises what is not kept
     * @param page where it is documented, below {@code docs/stores}
     * @param words what the page says
     */
    record Limit(Set<String> stores, Set<String> titles, Set<Promise> promises, String page, String words) {}

    private static final Set<String> REPLICATED = Set.of("sentinel", "sentinel-replicas", "cluster");

    static final List<Limit> ALL = List.of(
            new Limit(
                    Set.of("redis"),
                    Set.of("server-wipe", "mixed"),
                    Set.of(EXCLUSION, BELIEF, KEPT, ORDER),
                    "redis.md",
                    "A server without persistence forgets its locks when it restarts"),
            new Limit(
                    Set.of("redis"),
                    Set.of("server-clock", "mixed"),
                    Set.of(EXCLUSION, BELIEF, KEPT, ORDER),
                    "redis.md",
                    "The server's clock decides"),
            new Limit(
                    Set.of("redis"),
                    Set.of("server-clock", "mixed"),
                    Set.of(PROGRESS),
                    "redis.md",
                    "If it jumps back, they last longer"),
            new Limit(
                    Set.of("redis"),
                    Set.of("mixed"),
                    Set.of(TOKENS),
                    "redis.md",
                    "a counter lost *and* a clock set back, together, can take them back"),
            new Limit(
                    Set.of("mariadb", "postgres"),
                    Set.of("mixed"),
                    Set.of(TOKENS),
                    "jdbc.md",
                    "its data is lost *and* its clock set back"),
            new Limit(
                    Set.of("mariadb", "postgres"),
                    Set.of("server-clock", "mixed"),
                    Set.of(PROGRESS),
                    "jdbc.md",
                    "held locks stay held that much longer if their holder dies"),
            new Limit(
                    REPLICATED,
                    Set.of("leader-kill", "server-pause", "server-kill", "partition", "mixed"),
                    Set.of(EXCLUSION, BELIEF, KEPT, ORDER),
                    "redis.md",
                    "Replication is asynchronous"),
            new Limit(
                    REPLICATED,
                    Set.of("server-wipe", "mixed"),
                    Set.of(EXCLUSION, BELIEF, KEPT, ORDER),
                    "redis.md",
                    "A server without persistence forgets its locks when it restarts"),
            new Limit(
                    Set.of("redlock"),
                    Set.of("server-clock", "mixed"),
                    Set.of(EXCLUSION, BELIEF, KEPT),
                    "redlock.md",
                    "Every node ends leases by its own clock"),
            new Limit(
                    Set.of("redlock"),
                    Set.of("server-wipe", "mixed"),
                    Set.of(EXCLUSION, BELIEF, KEPT),
                    "redlock.md",
                    "A node that crashes and comes back empty has forgotten whom it granted"),
            new Limit(
                    Set.of("mariadb", "postgres"),
                    Set.of("server-clock", "mixed"),
                    Set.of(EXCLUSION, BELIEF, KEPT),
                    "jdbc.md",
                    "If the server's clock jumps forward, leases end early in its eyes"),
            new Limit(
                    Set.of("mariadb", "postgres"),
                    Set.of("server-wipe", "mixed"),
                    Set.of(EXCLUSION, BELIEF, KEPT),
                    "jdbc.md",
                    "A lock is as durable as the server"),
            new Limit(
                    Set.of("etcd"),
                    Set.of("server-pause", "mixed"),
                    Set.of(EXCLUSION, BELIEF, KEPT),
                    "etcd.md",
                    "leader that was paused for longer than an election can, on waking, have leases revoked"));

    private DocumentedLimits() {}

    static Optional<Limit> of(String store, String title, Promise promise) {
        return ALL.stream()
                .filter(limit -> limit.stores().contains(store)
                        && limit.titles().contains(title)
                        && limit.promises().contains(promise))
                .findFirst();
    }
}
