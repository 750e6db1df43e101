package io.holdfast.file;

import io.holdfast.file.Entry.State;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Request;
import io.holdfast.spi.TicketListener;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tickets of this JVM for one lock, with whom to tell how they end. Not thread-safe. */
final class LocalWaiters {

    private static final System.Logger LOG = System.getLogger(FileStore.class.getName());

    private final Map<OwnerId, Waiter> waiters = new LinkedHashMap<>();

    private record Waiter(Request request, TicketListener listener) {}

    boolean isEmpty() {
        return waiters.isEmpty();
    }

    void add(Request request, TicketListener listener) {
        waiters.put(request.owner(), new Waiter(request, listener));
    }

    void forget(OwnerId owner) {
        waiters.remove(owner);
    }

    void forgetAll() {
        waiters.clear();
    }

    /** Tells those who were let in, and those who are not in the table any more. */
    void tell(Table table) {
        if (waiters.isEmpty()) {
            return;
        }
        int inLine = 0;
        for (Entry entry : table.entries()) {
            Waiter waiter = waiters.get(entry.owner());
            if (waiter != null && entry.state() == State.HELD) {
                waiters.remove(entry.owner());
                tell(() -> waiter.listener().granted(entry.grant(waiter.request())));
            } else if (waiter != null) {
                inLine++;
            }
        }
        if (inLine < waiters.size()) {
            waiters.keySet().stream()
                    .filter(owner -> table.find(owner).isEmpty())
                    .toList()
                    .forEach(owner -> lose(
                            owner,
                            "its place in line is gone: no heartbeat for its ttl, or the lock's"
                                    + " file was deleted"));
        }
    }

    void loseAll(String reason) {
        List.copyOf(waiters.keySet()).forEach(owner -> lose(owner, reason));
    }

    private void lose(OwnerId owner, String reason) {
        Waiter waiter = waiters.remove(owner);
        if (waiter != null) {
            tell(() -> waiter.listener().lost(reason));
        }
    }

    /** Whoever changes the table must not fail because somebody else's listener does. */
    private static void tell(Runnable word) {
        try {
            word.run();
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.ERROR, "a ticket's listener failed", e);
        }
    }

    /** How many in the table wait ahead of the first of these. */
    int firstPlace(Table table) {
        int place = 0;
        for (Entry entry : table.entries()) {
            if (waiters.containsKey(entry.owner())) {
                return place;
            }
            place += entry.state() == State.WAITING ? 1 : 0;
        }
        return place;
    }
}
