package io.holdfast.file;

import io.holdfast.LossReason;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
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
final class HolderWatch {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());
    private static final Duration LOOK_PATIENCE = Duration.ofMillis(100);

    private final Supplier<Optional<LockDirectory>> directory;
    private final StoreContext context;
    private final Map<OwnerId, Ticket> tickets = new ConcurrentHashMap<>();
    private volatile OptionalLong lastCount = OptionalLong.empty();

    HolderWatch(Supplier<Optional<LockDirectory>> directory, StoreContext context) {
        this.directory = directory;
        this.context = context;
    }

    /** Before anything is asked for in the directory: what was released by force until now was none of ours. */
    void begin(LockDirectory open) {
        try {
            lastCount = open.lookForForces();
        } catch (IOException e) {
            LOG.log(System.Logger.Level.DEBUG, "reading the number of forced releases in " + open.path(), e);
        }
    }

    /** From before its request until it is given back or its loss was told. */
    void add(Ticket ticket) {
        tickets.put(ticket.owner(), ticket);
    }

    void remove(Ticket ticket) {
        tickets.remove(ticket.owner());
    }

    /** Whether there is anything to watch over. */
    boolean isNeeded() {
        return !tickets.isEmpty();
    }

    void look() {
        // A lease that ran out may never be released, which would remove its ticket here.
        tickets.values().removeIf(ticket -> ticket.state() == Ticket.State.ENDED);
        directory.get().ifPresent(this::lookIn);
    }

    private void lookIn(LockDirectory open) {
        try {
            OptionalLong count = open.lookForForces();
            if (count.isPresent() && !count.equals(lastCount)) {
                if (lastCount.isPresent()) {
                    tickets.values().stream()
                            .filter(ticket -> ticket.state() == Ticket.State.HELD)
                            .forEach(ticket -> lookFor(ticket, open));
                }
                lastCount = count;
            }
        } catch (IOException | RuntimeException e) {
            // The next renewal finds out as well.
            LOG.log(System.Logger.Level.DEBUG, "looking for forced releases in " + open.path(), e);
        }
    }

    private void lookFor(Ticket ticket, LockDirectory open) {
        LockFile file = open.borrow(ticket.name());
        try {
            Deadline soon = Deadline.after(context.time(), LOOK_PATIENCE);
            boolean isThere = file.change(
                    context.time(),
                    soon,
                    (table, now) -> table.find(ticket.owner()).isPresent());
            if (!isThere) {
                remove(ticket);
                ticket.gone(LossReason.FORCED, "an administrator released the lock by force");
            }
        } finally {
            open.giveBack(file);
        }
    }
}
