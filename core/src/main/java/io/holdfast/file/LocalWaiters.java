package io.holdfast.file;

import io.holdfast.LossReason;
import io.holdfast.file.Entry.State;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The tickets of this JVM that wait for one lock. Not thread-safe. */
final class LocalWaiters {

    private final Map<OwnerId, Ticket> waiting = new LinkedHashMap<>();

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    void add(Ticket ticket) {
        waiting.put(ticket.owner(), ticket);
    }

    void forget(OwnerId owner) {
        waiting.remove(owner);
    }

    void forgetAll() {
        waiting.clear();
    }

    /** Reports to the tickets that were let in, and to those that are not in the table any more. */
    void tell(Table table) {
        if (waiting.isEmpty()) {
            return;
        }
        int queued = 0;
        for (Entry entry : table.entries()) {
            Ticket ticket = waiting.get(entry.owner());
            if (ticket != null && entry.state() == State.HELD) {
                waiting.remove(entry.owner());
                entry.report(ticket);
            } else if (ticket != null) {
                queued++;
            }
        }
        if (queued < waiting.size()) {
            waiting.values().stream()
                    .filter(ticket -> table.find(ticket.owner()).isEmpty())
                    .toList()
                    .forEach(
                            ticket -> lose(
                                    ticket,
                                    "its place in the queue is gone: no heartbeat for its ttl, or the lock's file was deleted"));
        }
    }

    void loseAll(String reason) {
        List.copyOf(waiting.values()).forEach(ticket -> lose(ticket, reason));
    }

    private void lose(Ticket ticket, String reason) {
        waiting.remove(ticket.owner());
        ticket.gone(LossReason.GONE, reason);
    }

    /** How many in the table wait ahead of the first of these. */
    int firstPosition(Table table) {
        int position = 0;
        for (Entry entry : table.entries()) {
            if (waiting.containsKey(entry.owner())) {
                return position;
            }
            position += entry.state() == State.WAITING ? 1 : 0;
        }
        return position;
    }
}
