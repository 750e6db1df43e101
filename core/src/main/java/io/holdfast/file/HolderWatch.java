package io.holdfast.file;

import io.holdfast.LossReason;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Tells the client when one of its grants was released by force: the directory counts forced releases, and only when
 * the count has moved are the files looked into. Thread-safe.
 */
final class HolderWatch {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());

    /** Each costs some 20 ms, in which no waiting ticket of the client is told anything; the others' turn is at the next look. */
    private static final int MOST_BUSY_LOCKS = 5;

    private final Supplier<Optional<LockDirectory>> directory;
    private final StoreContext context;
    private final Map<OwnerId, Ticket> tickets = new ConcurrentHashMap<>();
    private volatile OptionalLong lastCount = OptionalLong.empty();
    /** Not looked into yet since something was forced. Only the thread that looks uses it. */
    private final Set<String> locksToLookInto = new LinkedHashSet<>();

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
            noteForces(open.lookForForces());
        } catch (IOException | RuntimeException e) {
            // The next renewal finds out as well.
            LOG.log(System.Logger.Level.DEBUG, "looking for forced releases in " + open.path(), e);
        }
        if (!locksToLookInto.isEmpty()) {
            tellForced(open);
        }
    }

    private void noteForces(OptionalLong count) {
        if (count.isPresent() && !count.equals(lastCount)) {
            if (lastCount.isPresent()) {
                held().map(Ticket::name).forEach(locksToLookInto::add);
            }
            lastCount = count;
        }
    }

    private Stream<Ticket> held() {
        return tickets.values().stream().filter(ticket -> ticket.state() == Ticket.State.HELD);
    }

    /** A lock that cannot be looked into comes after the others at the next look, and keeps no news from their holders. */
    private void tellForced(LockDirectory open) {
        Map<String, List<Ticket>> byLock = held().collect(Collectors.groupingBy(Ticket::name));
        locksToLookInto.retainAll(byLock.keySet());
        int busy = 0;
        for (String lock : List.copyOf(locksToLookInto)) {
            if (busy == MOST_BUSY_LOCKS) {
                return;
            }
            try {
                tellForced(byLock.get(lock), lock, open);
                locksToLookInto.remove(lock);
            } catch (RuntimeException e) {
                // The next renewal finds out as well.
                LOG.log(System.Logger.Level.DEBUG, "looking whether '" + lock + "' was released by force", e);
                locksToLookInto.remove(lock);
                locksToLookInto.add(lock);
                busy += e.getCause() instanceof BusyException ? 1 : 0;
            }
        }
    }

    private void tellForced(List<Ticket> sameLock, String lock, LockDirectory open) {
        LockFile file = open.borrow(lock);
        try {
            Deadline now = Deadline.after(context.time(), Duration.ZERO);
            List<Ticket> missing = file.change(
                    context.time(),
                    now,
                    (table, nowNanos) -> sameLock.stream()
                            .filter(ticket -> table.find(ticket.owner()).isEmpty())
                            .toList());
            missing.forEach(this::tellForced);
        } finally {
            open.giveBack(file);
        }
    }

    /** Unless it was given back meanwhile. */
    private void tellForced(Ticket ticket) {
        if (tickets.remove(ticket.owner()) != null) {
            ticket.gone(LossReason.FORCED, "an administrator released the lock by force");
        }
    }
}
