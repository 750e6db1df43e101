package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import io.holdfast.LockStatistics;
import io.holdfast.LockView;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * Shows the leases and waiters of this instance, which no store can show, and a lock as its store sees it. Releasing a lock by force
 * needs {@code management.endpoint.holdfast.access=unrestricted}.
 */
@Endpoint(id = "holdfast", defaultAccess = Access.READ_ONLY)
public class HoldfastEndpoint {

    private static final int MOST_LOCKS = 100;

    private final Map<String, Holdfast> clients;
    private final Map<String, LocalLeases> leases;

    HoldfastEndpoint(Map<String, Holdfast> clients, Map<String, LocalLeases> leases) {
        this.clients = new TreeMap<>(clients);
        this.leases = new ConcurrentHashMap<>(leases);
    }

    /**
     * One client.
     *
     * @param held its leases
     * @param waiting its acquisitions under way
     * @param counts what it has done since it was connected
     */
    public record ClientView(String name, String store, List<?> held, List<?> waiting, Counts counts) {}

    /**
     * Counters of one client. Read by {@code holdfast ui --actuator}, too.
     *
     * @param acquired leases it got
     * @param unsuccessful acquisitions that ended without a lease
     * @param lost leases it lost
     * @param waitP99Millis what 99 of 100 of its last 1,000 acquisitions waited at most
     * @param holdP99Millis how long 99 of 100 of its last 1,000 leases were held at most
     */
    public record Counts(
            long acquired,
            long unsuccessful,
            long lost,
            Optional<Double> waitP99Millis,
            Optional<Double> holdP99Millis) {

        static Counts of(LockStatistics statistics, Optional<LocalLeases> local) {
            return new Counts(
                    statistics.granted() + statistics.handedOver(),
                    sum(statistics.unsuccessful()),
                    sum(statistics.lost()),
                    local.flatMap(leases -> leases.waits().p99Millis()),
                    local.flatMap(leases -> leases.holds().p99Millis()));
        }

        private static long sum(Map<?, Long> counts) {
            return counts.values().stream().mapToLong(Long::longValue).sum();
        }
    }

    @ReadOperation
    public Map<String, ClientView> clients() {
        Map<String, ClientView> views = new TreeMap<>();
        clients.forEach((bean, client) -> {
            Optional<LocalLeases> local = Optional.ofNullable(leases.get(bean));
            views.put(
                    bean,
                    new ClientView(
                            client.name(),
                            client.store(),
                            local.map(LocalLeases::held).orElse(List.of()),
                            local.map(LocalLeases::waiting).orElse(List.of()),
                            Counts.of(client.statistics(), local)));
        });
        return views;
    }

    /**
     * What the store of a client shows.
     *
     * @param total how many locks are held or waited for
     * @param locks the first of them by name
     */
    public record StoreView(int total, List<LockView> locks) {}

    /** @param prefix what the names of locks begin with; without it, all */
    @ReadOperation
    public @Nullable StoreView locks(@Selector String client, @Nullable String prefix) {
        Holdfast known = clients.get(client);
        if (known == null) {
            return null;
        }
        List<LockView> all = known.locks(prefix == null ? "" : prefix);
        return new StoreView(all.size(), all.stream().limit(MOST_LOCKS).toList());
    }

    /** A lock as the store of a client sees it. */
    @ReadOperation
    public @Nullable LockView lock(
            @Selector String client, @Selector(match = Selector.Match.ALL_REMAINING) String[] name) {
        Holdfast known = clients.get(client);
        return known == null ? null : known.lock(joined(name)).inspect();
    }

    /** Takes the lock away from whoever holds it. */
    @DeleteOperation
    public @Nullable Map<String, Integer> release(
            @Selector String client, @Selector(match = Selector.Match.ALL_REMAINING) String[] name) {
        Holdfast known = clients.get(client);
        return known == null ? null : Map.of("released", known.administration().forceRelease(joined(name)));
    }

    /** Empty parts of a path are not among the parts: without them it would be the name of another lock. */
    private static String joined(String[] parts) {
        if (RequestedPath.hasEmptyParts()) {
            throw new InvalidEndpointRequestException(
                    "The path names a lock with empty parts, which the endpoint is not told",
                    "A lock whose name has two slashes in a row, or one at an end, cannot be named in a path, so"
                            + " nothing was done. Use the command: holdfast show, or holdfast release --force.");
        }
        return String.join("/", parts);
    }
}
