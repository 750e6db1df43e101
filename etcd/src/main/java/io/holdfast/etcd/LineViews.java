package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.holdfast.LockView;
import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Waiter;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.LeaseGrpc;
import io.holdfast.etcd.internal.wire.LeaseTimeToLiveRequest;
import io.holdfast.etcd.internal.wire.RangeRequest;
import io.holdfast.etcd.internal.wire.RangeResponse;
import io.holdfast.spi.Admission;
import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Shows lines to people. Thread-safe. */
final class LineViews {

    /** What a view's token is to a store's. */
    private static final long LOCAL_TOKENS = 1024;

    private static final int KEYS_AT_ONCE = 1000;

    /** Each costs a request of its own, so only the first get a time left. */
    private static final int LEASES_ASKED = 64;

    private final EtcdClient client;
    private final Keys keys;

    LineViews(EtcdClient client, Keys keys) {
        this.client = client;
        this.keys = keys;
    }

    /** Why a try was refused. */
    static String reason(List<KeyValue> ahead) {
        if (ahead.isEmpty()) {
            return "taken";
        }
        KeyValue first = ahead.get(0);
        return TicketNote.of(first.getValue())
                .origin()
                .map(origin -> "held by " + origin)
                .orElse("held by another client's key " + first.getKey().toStringUtf8());
    }

    LockView view(String name, Deadline deadline) {
        return view(name, line(name, deadline), new HashMap<>(), deadline);
    }

    /** The tickets that hold a lock, in order. */
    List<KeyValue> holders(String name, Deadline deadline) {
        Admission admission = new Admission();
        List<KeyValue> holders = new ArrayList<>();
        for (KeyValue ticket : line(name, deadline)) {
            if (!admission.admit(TicketNote.of(ticket.getValue()).demand())) {
                break;
            }
            holders.add(ticket);
        }
        return holders;
    }

    List<LockView> views(String namePrefix, Deadline deadline) {
        Map<String, List<KeyValue>> lines = new TreeMap<>();
        ByteString start = keys.namesBeginningWith(namePrefix);
        ByteString end = Keys.endOf(start);
        // etcd wants a key: a zero byte is the first there can be.
        ByteString from = start.isEmpty() ? ByteString.copyFrom(new byte[1]) : start;
        long revision = 0;
        boolean more = true;
        while (more) {
            RangeResponse page = range(
                    RangeRequest.newBuilder()
                            .setKey(from)
                            .setRangeEnd(end)
                            .setRevision(revision)
                            .setLimit(KEYS_AT_ONCE),
                    deadline);
            for (KeyValue ticket : page.getKvsList()) {
                keys.lockOf(ticket.getKey())
                        .ifPresent(name -> lines.computeIfAbsent(name, key -> new ArrayList<>())
                                .add(ticket));
            }
            more = page.getMore() && page.getKvsCount() > 0;
            if (more) {
                revision = page.getHeader().getRevision();
                from = page.getKvs(page.getKvsCount() - 1).getKey().concat(ByteString.copyFrom(new byte[1]));
            }
        }
        Map<Long, Optional<Duration>> leases = new HashMap<>();
        List<LockView> views = new ArrayList<>();
        lines.forEach((name, line) -> {
            line.sort(Comparator.comparingLong(KeyValue::getCreateRevision));
            views.add(view(name, line, leases, deadline));
        });
        return views;
    }

    private List<KeyValue> line(String name, Deadline deadline) {
        return range(Txns.line(keys.line(name)), deadline).getKvsList();
    }

    private LockView view(String name, List<KeyValue> line, Map<Long, Optional<Duration>> leases, Deadline deadline) {
        List<Holder> holders = new ArrayList<>();
        List<Waiter> waiters = new ArrayList<>();
        Admission admission = new Admission();
        for (KeyValue ticket : line) {
            TicketNote note = TicketNote.of(ticket.getValue());
            if (admission.admit(note.demand())) {
                holders.add(new Holder(
                        note.origin(),
                        note.demand(),
                        ticket.getCreateRevision() * LOCAL_TOKENS,
                        // It was written when its client queued, and etcd does not say when it became the first.
                        Optional.empty(),
                        timeLeft(ticket.getLease(), leases, deadline),
                        note.standing()));
            } else {
                waiters.add(new Waiter(note.origin(), note.demand(), note.since()));
            }
        }
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
            long seconds = client.call(
                            LeaseGrpc.getLeaseTimeToLiveMethod(),
                            LeaseTimeToLiveRequest.newBuilder().setId(id).build(),
                            EtcdClient.Repeat.HARMLESS,
                            deadline)
                    .getTtl();
            return seconds < 0 ? Optional.empty() : Optional.of(Duration.ofSeconds(seconds));
        });
    }

    private RangeResponse range(RangeRequest.Builder range, Deadline deadline) {
        return client.call(KVGrpc.getRangeMethod(), range.build(), EtcdClient.Repeat.HARMLESS, deadline);
    }
}
