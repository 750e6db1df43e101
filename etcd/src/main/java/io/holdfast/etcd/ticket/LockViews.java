package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.LockView;
import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Waiter;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.layout.TicketValue;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Page;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Shows queues to people. Thread-safe. */
public final class LockViews {

    private static final int KEYS_AT_ONCE = 1000;

    /** Each costs a request of its own, so only the first get a time left. */
    private static final int LEASES_ASKED = 64;

    private final EtcdClient client;
    private final Keys keys;

    public LockViews(EtcdClient client, Keys keys) {
        this.client = client;
        this.keys = keys;
    }

    public LockView view(String name, Deadline deadline) {
        return view(name, read(name, deadline), new HashMap<>(), deadline);
    }

    /** The tickets that hold a lock, in order. */
    public List<KeyValue> holders(String name, Deadline deadline) {
        return read(name, deadline).admitted().stream()
                .map(QueueView.Entry::key)
                .toList();
    }

    private QueueView read(String name, Deadline deadline) {
        return QueueView.read(client, keys.queue(name), deadline);
    }

    /**
     * All keys of a lock lie together, so a page reads from its first lock on until it has seen the one behind its last. Where the
     * next page begins is said by the name of the last lock.
     */
    public Page views(String namePrefix, Optional<String> after, int limit, Deadline deadline) {
        Map<String, List<KeyValue>> queues = queues(namePrefix, after, limit, deadline);
        Optional<String> next = Optional.empty();
        if (queues.size() > limit) {
            List<String> names = List.copyOf(queues.keySet());
            queues.keySet().retainAll(names.subList(0, limit));
            next = Optional.of(names.get(limit - 1));
        }
        Map<Long, Optional<Duration>> timesLeft = new HashMap<>();
        List<LockView> views = new ArrayList<>();
        queues.forEach((name, queue) -> views.add(view(name, QueueView.of(queue), timesLeft, deadline)));
        return new Page(views, next);
    }

    /** The tickets by their locks, in the order of keys, of as many locks, and some of those of the next lock if there is one. */
    private Map<String, List<KeyValue>> queues(
            String namePrefix, Optional<String> after, int limit, Deadline deadline) {
        Map<String, List<KeyValue>> queues = new LinkedHashMap<>();
        ByteString start = keys.namesBeginningWith(namePrefix);
        ByteString from = after.map(name -> Keys.endOf(keys.queue(name))).orElse(Keys.orFirst(start));
        client.pages(
                from,
                Keys.endOf(start),
                Math.min(KEYS_AT_ONCE, limit) + 1,
                page -> {
                    for (KeyValue ticket : page) {
                        keys.lockOf(ticket.getKey())
                                .ifPresent(name -> queues.computeIfAbsent(name, key -> new ArrayList<>())
                                        .add(ticket));
                    }
                    return queues.size() <= limit;
                },
                deadline);
        return queues;
    }

    private LockView view(String name, QueueView queue, Map<Long, Optional<Duration>> timesLeft, Deadline deadline) {
        List<QueueView.Entry> admitted = queue.admitted();
        List<Holder> holders = new ArrayList<>();
        for (QueueView.Entry ticket : admitted) {
            TicketValue value = ticket.value();
            holders.add(new Holder(
                    value.origin(),
                    value.demand(),
                    value.isForeign() ? Optional.empty() : Optional.of(ticket.created()),
                    // When it was written, which is when it queued: etcd does not say when it became the first.
                    value.since(),
                    timeLeft(ticket.key().getLease(), timesLeft, deadline),
                    value.standing()));
        }
        List<Waiter> waiters = queue.tickets()
                .skip(admitted.size())
                .map(QueueView.Entry::value)
                .map(value -> new Waiter(value.origin(), value.demand(), value.since()))
                .toList();
        return new LockView(name, holders, waiters);
    }

    private Optional<Duration> timeLeft(long lease, Map<Long, Optional<Duration>> known, Deadline deadline) {
        if (lease == 0) {
            return Optional.empty();
        }
        if (known.size() >= LEASES_ASKED) {
            return known.getOrDefault(lease, Optional.empty());
        }
        return known.computeIfAbsent(lease, id -> {
            long seconds = client.timeToLive(id, false, deadline).getTtl();
            return seconds < 0 ? Optional.empty() : Optional.of(Duration.ofSeconds(seconds));
        });
    }
}
