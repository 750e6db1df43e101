package io.holdfast.spring.held;

import io.holdfast.Demand;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.Loss;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * The leases one call of a method runs under: of its own acquisition, or of calls it is inside of. Released when the call has ended,
 * and every call inside it; a stage that a method returned is part of its call. Thread-safe.
 */
public final class Held {

    private final Holdfast client;
    private final Demand demand;
    private final List<Lease> leases;
    private final List<? extends Hold> acquired;
    private final List<Held> outer;
    private final AtomicInteger users = new AtomicInteger(1);

    private Held(Holdfast client, Demand demand, List<Lease> leases, List<? extends Hold> acquired, List<Held> outer) {
        this.client = client;
        this.demand = demand;
        this.leases = List.copyOf(leases);
        this.acquired = acquired;
        this.outer = List.copyOf(outer);
    }

    /** @param leases what {@code hold} consists of, in the order of the names the method has */
    public static Held acquired(Holdfast client, Demand demand, Hold hold, List<Lease> leases) {
        return new Held(client, demand, leases, List.of(hold), List.of());
    }

    /** For a call inside of others, which must not have ended: these keep their locks until this is released. */
    public static Held inside(List<Held> outer, List<Lease> leases) {
        outer.forEach(held -> held.users.incrementAndGet());
        return new Held(outer.get(0).client, outer.get(0).demand, leases, leases, outer);
    }

    /** Whether who has this needs nothing further for such a call. */
    public boolean covers(Demand wanted) {
        if (demand instanceof Demand.Permits has && wanted instanceof Demand.Permits wants) {
            return wants.total() == has.total() && wants.count() <= has.count();
        }
        return demand instanceof Demand.Exclusive || demand.equals(wanted);
    }

    public Demand demand() {
        return demand;
    }

    /** In the order of the names that the method has. */
    public List<Lease> leases() {
        return leases;
    }

    /** Several locks that were acquired at once, or else the only lease. */
    public Hold hold() {
        return acquired.get(0);
    }

    Optional<Lease> leaseOf(Holdfast wantedClient, String name) {
        return client == wantedClient
                ? leases.stream().filter(lease -> lease.name().equals(name)).findFirst()
                : Optional.empty();
    }

    /** @throws io.holdfast.LeaseLostException unless all leases are valid */
    public void requireValid() {
        acquired.forEach(Hold::requireValid);
    }

    /** Calls back if one of them is lost; perhaps several times if several are. */
    public void onLost(Consumer<Loss> callback) {
        acquired.forEach(hold -> hold.onLost(callback));
    }

    public void release() {
        if (users.decrementAndGet() == 0) {
            if (outer.isEmpty()) {
                acquired.forEach(Hold::release);
            } else {
                outer.forEach(Held::release);
            }
        }
    }

    /** {@link #release} for threads that must not wait for the store. */
    public CompletableFuture<?> releaseAsync() {
        if (users.decrementAndGet() > 0) {
            return CompletableFuture.completedFuture(null);
        }
        return CompletableFuture.allOf(
                outer.isEmpty()
                        ? acquired.stream().map(Hold::releaseAsync).toArray(CompletableFuture<?>[]::new)
                        : outer.stream().map(Held::releaseAsync).toArray(CompletableFuture<?>[]::new));
    }
}
