package io.holdfast.spring.boot;

import io.holdfast.Holdfast;
import io.holdfast.LockView;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.Access;
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
     */
    public record ClientView(String name, String store, List<?> held, List<?> waiting) {}

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
                            local.map(LocalLeases::waiting).orElse(List.of())));
        });
        return views;
    }

    /** A lock as the store of a client sees it. */
    @ReadOperation
    public @Nullable LockView lock(
            @Selector String client, @Selector(match = Selector.Match.ALL_REMAINING) String[] name) {
        Holdfast known = clients.get(client);
        return known == null ? null : known.lock(String.join("/", name)).inspect();
    }

    /** Takes the lock away from whoever holds it. */
    @DeleteOperation
    public @Nullable Map<String, Integer> release(
            @Selector String client, @Selector(match = Selector.Match.ALL_REMAINING) String[] name) {
        Holdfast known = clients.get(client);
        return known == null ? null : Map.of("released", known.administration().forceRelease(String.join("/", name)));
    }
}
