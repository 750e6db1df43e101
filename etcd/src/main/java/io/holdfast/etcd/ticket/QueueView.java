package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.layout.TicketValue;
import io.holdfast.spi.Admission;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.support.FarAhead;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The tickets of a lock as of one revision, in order of arrival: read at once, then kept up to date by events.
 *
 * <p>Tickets are told apart by create revision, since slots are used again. Nothing that is not newer than the view changes it, so
 * it does no harm if events come twice or again after a gap. Not thread-safe.
 */
final class QueueView {

    private static final int KEYS_AT_ONCE = 1000;

    /** A ticket as last written: its key without the value, and what that says. */
    record Entry(KeyValue key, TicketValue value) {

        static Entry of(KeyValue kv) {
            return new Entry(kv.toBuilder().clearValue().build(), TicketValue.read(kv.getValue()));
        }

        long created() {
            return key.getCreateRevision();
        }
    }

    /**
     * A ticket that is watched by somebody far behind it.
     *
     * @param mustLeave whether he is not admitted before it has left
     */
    record Ahead(KeyValue key, boolean mustLeave) {}

    private final NavigableMap<Long, Entry> byCreation = new TreeMap<>();
    private final Map<ByteString, Entry> bySlot = new HashMap<>();
    private long revision;

    /** Of tickets that were read. */
    static QueueView of(List<KeyValue> tickets) {
        QueueView view = new QueueView();
        tickets.forEach(kv -> view.put(Entry.of(kv)));
        return view;
    }

    /** Reads a queue. */
    static QueueView read(EtcdClient client, ByteString queue, Deadline deadline) {
        while (true) {
            try {
                return readInPages(client, queue, deadline);
            } catch (RpcFailure failure) {
                // Its revision was compacted between two pages.
                if (!failure.isCompacted()) {
                    throw failure;
                }
            }
        }
    }

    private static QueueView readInPages(EtcdClient client, ByteString queue, Deadline deadline) {
        List<KeyValue> tickets = new ArrayList<>();
        long revision = client.pages(queue, Keys.endOf(queue), KEYS_AT_ONCE, tickets::addAll, deadline);
        QueueView view = of(tickets);
        view.revision = revision;
        return view;
    }

    long revision() {
        return revision;
    }

    int size() {
        return byCreation.size();
    }

    boolean has(long created) {
        return byCreation.containsKey(created);
    }

    boolean isTaken(ByteString slot) {
        return bySlot.containsKey(slot);
    }

    Optional<Entry> first() {
        return Optional.ofNullable(byCreation.firstEntry()).map(Map.Entry::getValue);
    }

    /** All, in order. */
    Stream<Entry> tickets() {
        return byCreation.values().stream();
    }

    /** Those who may hold the lock, in order. */
    List<Entry> admitted() {
        Admission admission = new Admission();
        return tickets()
                .takeWhile(entry -> admission.admit(entry.value().demand()))
                .toList();
    }

    boolean admits(long created) {
        return admitted().stream().anyMatch(entry -> entry.created() == created);
    }

    /** What to watch for a ticket with so many waiting ahead of it; empty if there are fewer, or it is not here. */
    Optional<Ahead> farAhead(int distance, long created) {
        Entry waiting = byCreation.get(created);
        if (waiting == null) {
            return Optional.empty();
        }
        List<Entry> ahead = List.copyOf(byCreation.headMap(created).values());
        List<Demand> demands =
                ahead.stream().map(entry -> entry.value().demand()).toList();
        return FarAhead.of(waiting.value().demand(), demands, distance)
                .map(found -> new Ahead(ahead.get(found.place()).key(), found.mustLeave()));
    }

    /** Whether a new ticket at the end would be admitted. */
    boolean wouldAdmit(Demand demand) {
        Admission admission = new Admission();
        return tickets().allMatch(entry -> admission.admit(entry.value().demand())) && admission.admit(demand);
    }

    /** Applies all of one or more revisions. Returns the create revisions of the tickets that went. */
    List<Long> apply(List<Event> events) {
        List<Long> gone = new ArrayList<>();
        long known = revision;
        for (Event event : events) {
            KeyValue kv = event.getKv();
            // Not newer than what was there before these, or older than what was among them: told before.
            if (kv.getModRevision() <= known || kv.getModRevision() < revision) {
                continue;
            }
            revision = Math.max(revision, kv.getModRevision());
            if (event.getType() == Event.EventType.PUT) {
                put(Entry.of(kv));
            } else {
                Entry entry = bySlot.get(kv.getKey());
                if (entry != null && entry.created() < kv.getModRevision()) {
                    bySlot.remove(kv.getKey());
                    byCreation.remove(entry.created());
                    gone.add(entry.created());
                }
            }
        }
        return gone;
    }

    private void put(Entry entry) {
        Entry before = bySlot.put(entry.key().getKey(), entry);
        if (before != null) {
            byCreation.remove(before.created());
        }
        byCreation.put(entry.created(), entry);
    }
}
