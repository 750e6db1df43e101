package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.RangeResponse;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.etcd.layout.TicketValue;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Admission;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Who is ahead of a ticket in its queue and must go before it is admitted, as of one revision.
 *
 * <p>Keys ahead of a ticket can only go (or turn from exclusive to shared), never come, because the queue is ordered by
 * create revision. So what a ticket once read stays true but for the deletions it is told of. Immutable.
 *
 * @param present whether the ticket itself was there
 * @param those who must go, as far as it was read, in order
 * @param complete whether these are all: if not, their going calls for another look
 * @param revision as of when
 */
record Predecessors(boolean present, List<Predecessor> those, boolean complete, long revision) {

    /** Somebody ahead. */
    record Predecessor(ByteString key, Demand demand, long lease) {}

    /*
     * What is read. An exclusive ticket needs to know whether it is the first, and who is right before it. If that is the
     * first, its going admits us and we know it without asking again; if not, it may be one in the middle who gave up.
     * Readers and permits need to know what those ahead ask for, so they read the queue.
     */

    /** Writes a key and looks who is ahead of it, in one step. */
    static TxnRequest enqueue(ByteString queue, ByteString key, RequestOp put, Demand demand) {
        TxnRequest.Builder txn =
                TxnRequest.newBuilder().addCompare(Txns.absent(key)).addSuccess(put);
        if (demand instanceof Demand.Exclusive) {
            txn.addSuccess(Txns.read(Txns.first(queue).setKeysOnly(true)));
            txn.addSuccess(Txns.read(Txns.last(queue, 2).setKeysOnly(true)));
        } else {
            txn.addSuccess(Txns.read(Txns.queue(queue)));
        }
        return txn.build();
    }

    static Predecessors ofEnqueue(TxnResponse response, ByteString key, Demand demand) {
        long revision = response.getHeader().getRevision();
        RangeResponse front = response.getResponses(1).getResponseRange();
        if (!(demand instanceof Demand.Exclusive)) {
            return inQueue(front.getKvsList(), key, demand, revision);
        }
        List<KeyValue> last = response.getResponses(2).getResponseRange().getKvsList();
        Optional<KeyValue> before =
                last.stream().filter(kv -> !kv.getKey().equals(key)).findFirst();
        return ofExclusive(true, front, before, revision);
    }

    /** Looks again who is ahead of a ticket of that revision. */
    static TxnRequest look(ByteString queue, ByteString key, long created, Demand demand) {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        if (demand instanceof Demand.Exclusive) {
            txn.addSuccess(Txns.read(Txns.key(key)));
            txn.addSuccess(Txns.read(Txns.first(queue).setKeysOnly(true)));
            txn.addSuccess(Txns.read(Txns.last(queue, 1).setKeysOnly(true).setMaxCreateRevision(created - 1)));
        } else {
            txn.addSuccess(Txns.read(Txns.queue(queue).setMaxCreateRevision(created)));
        }
        return txn.build();
    }

    static Predecessors ofLook(TxnResponse response, ByteString key, Demand demand) {
        long revision = response.getHeader().getRevision();
        RangeResponse first = response.getResponses(0).getResponseRange();
        if (!(demand instanceof Demand.Exclusive)) {
            return inQueue(first.getKvsList(), key, demand, revision);
        }
        boolean present = first.getKvsCount() > 0;
        RangeResponse front = response.getResponses(1).getResponseRange();
        Optional<KeyValue> before = response.getResponses(2).getResponseRange().getKvsList().stream()
                .findFirst();
        return ofExclusive(present, front, before, revision);
    }

    private static Predecessors ofExclusive(
            boolean present, RangeResponse front, Optional<KeyValue> before, long revision) {
        if (before.isEmpty()) {
            return new Predecessors(present, List.of(), true, revision);
        }
        KeyValue nearest = before.get();
        boolean nearestIsFirst =
                front.getKvsCount() > 0 && front.getKvs(0).getKey().equals(nearest.getKey());
        // Read without its value: an exclusive ticket waits for everybody ahead, whatever he asks for.
        Predecessor predecessor = new Predecessor(nearest.getKey(), Demand.exclusive(), nearest.getLease());
        return new Predecessors(present, List.of(predecessor), nearestIsFirst, revision);
    }

    /** Of a queue read from its front: up to a ticket, or as a new one at its end would find it. */
    static Predecessors inQueue(List<KeyValue> queue, ByteString key, Demand demand, long revision) {
        List<Predecessor> ahead = new ArrayList<>();
        boolean present = false;
        for (KeyValue kv : queue) {
            if (kv.getKey().equals(key)) {
                present = true;
                break;
            }
            Demand asked = TicketValue.read(kv.getValue()).demand();
            if (!(demand instanceof Demand.Shared && asked instanceof Demand.Shared)) {
                ahead.add(new Predecessor(kv.getKey(), asked, kv.getLease()));
            }
        }
        return new Predecessors(present, List.copyOf(ahead), true, revision);
    }

    /** Whether the demand is admitted, as far as is known. */
    boolean admits(Demand demand) {
        if (!(demand instanceof Demand.Permits)) {
            return complete && those.isEmpty();
        }
        Admission admission = new Admission();
        for (Predecessor ahead : those) {
            if (!admission.admit(ahead.demand())) {
                return false;
            }
        }
        return admission.admit(demand);
    }

    boolean has(ByteString key) {
        return those.stream().anyMatch(ahead -> ahead.key().equals(key));
    }

    boolean has(ByteString key, long lease) {
        return those.stream().anyMatch(ahead -> ahead.key().equals(key) && ahead.lease() == lease);
    }

    Predecessors without(ByteString key) {
        List<Predecessor> left =
                those.stream().filter(ahead -> !ahead.key().equals(key)).toList();
        return new Predecessors(present, left, complete, revision);
    }

    /** Whom to watch: the nearest. Permits watch them all. */
    ByteString nearest() {
        return those.get(those.size() - 1).key();
    }
}
