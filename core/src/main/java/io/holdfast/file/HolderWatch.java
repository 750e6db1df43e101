package io.holdfast.file;

import io.holdfast.LossReason;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Tells the client when one of its grants was released by force: the directory counts forced releases, and only when
 * the count has moved are the files looked into. Thread-safe.
 */
final class HolderWatch implements TicketPoller.ForceWatch {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());
    private static final Duration LOOK_PATIENCE = Duration.ofMillis(100);

    private final Supplier<Optional<LockDirectory>> directory;
    private final StoreContext context;
    private final Map<OwnerId, Held> held = new ConcurrentHashMap<>();
    /** Only the looking thread uses it. */
    private OptionalLong lastCount = OptionalLong.empty();

    private record Held(String lock, long expiresNanos) {}

    HolderWatch(Supplier<Optional<LockDirectory>> directory, StoreContext context) {
        this.directory = directory;
        this.context = context;
    }

    void add(Grant grant) {
        held.put(
                grant.request().owner(),
                new Held(grant.request().name(), grant.baseNanos() + grant.ttl().toNanos()));
    }

    void extend(OwnerId owner, long expiresNanos) {
        held.computeIfPresent(owner, (any, old) -> new Held(old.lock(), expiresNanos));
    }

    void remove(OwnerId owner) {
        held.remove(owner);
    }

    @Override
    public boolean isNeeded() {
        return !held.isEmpty();
    }

    @Override
    public void look() {
        long now = context.time().nanoTime();
        // Who let a lease run out may never come back to release it.
        held.values().removeIf(grant -> grant.expiresNanos() - now <= 0);
        directory.get().ifPresent(this::lookIn);
    }

    private void lookIn(LockDirectory open) {
        try {
            OptionalLong count = open.lookForForces();
            if (count.isPresent() && !count.equals(lastCount)) {
                held.forEach((owner, grant) -> lookFor(owner, grant, open));
                lastCount = count;
            }
        } catch (IOException | RuntimeException e) {
            // The next renewal finds out as well.
            LOG.log(System.Logger.Level.DEBUG, "looking for forced releases in " + open.path(), e);
        }
    }

    private void lookFor(OwnerId owner, Held grant, LockDirectory open) {
        LockFile file = open.borrow(grant.lock());
        try {
            Deadline soon = Deadline.after(context.time(), LOOK_PATIENCE);
            boolean isThere = file.change(
                    context.time(), soon, (table, now) -> table.find(owner).isPresent());
            if (!isThere && held.remove(owner) != null) {
                context.losses().lost(owner, LossReason.FORCED, "an administrator released the lock by force");
            }
        } finally {
            open.giveBack(file);
        }
    }
}
