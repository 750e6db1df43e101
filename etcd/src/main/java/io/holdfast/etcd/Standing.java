package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.RangeResponse;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.spi.Admission;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Where a ticket stands in its line, as of one revision: who must go before it is admitted.
 *
 * <p>Keys ahead of a ticket can only go (or turn from exclusive to shared), never come, because the line is ordered by
 * create revision. So what a ticket once read stays true but for the deletions it is told of. Immutable.
 *
 * @param present whether the ticket itself was there
 * @param obstacles who must go, as far as it was read, in order
 * @param whole whether {@code obstacles} is all of them: if not, their going calls for another look
 * @param revision as of when
 */
record Standing(boolean present, List<Obstacle> obstacles, boolean whole, long revision) {

    /** Somebody ahead. */
    record Obstacle(ByteString key, Demand demand, long lease) {}

    /*
     * What is read. An exclusive ticket needs to know whether it is the first, and who is right before it. If that is the
     * first, its going admits us and we know it without asking again; if not, it may be one in the middle who gave up.
     * Readers and permits need to know what those ahead ask for, so they read the line.
     */

    /** Takes a place and looks where it is, in one step. */
    static TxnRequest enqueue(ByteString line, ByteString key, RequestOp put, Demand demand) {
        TxnRequest.Builder txn =
                TxnRequest.newBuilder().addCompare(Txns.absent(key)).addSuccess(put);
        if (demand instanceof Demand.Exclusive) {
            txn.addSuccess(Txns.read(Txns.first(line).setKeysOnly(true)));
            txn.addSuccess(Txns.read(Txns.last(line, 2).setKeysOnly(true)));
        } else {
            txn.addSuccess(Txns.read(Txns.line(line)));
        }
        return txn.build();
    }

    static Standing ofEnqueue(TxnResponse response, ByteString key, Demand demand) {
        long revision = response.getHeader().getRevision();
        RangeResponse front = response.getResponses(1).getResponseRange();
        if (!(demand instanceof Demand.Exclusive)) {
            return ofLine(front.getKvsList(), key, demand, revision);
        }
        List<KeyValue> last = response.getResponses(2).getResponseRange().getKvsList();
        Optional<KeyValue> before =
                last.stream().filter(kv -> !kv.getKey().equals(key)).findFirst();
        return ofExclusive(true, front, before, key, revision);
    }

    /** Looks again where a ticket of that revision is. */
    static TxnRequest look(ByteString line, ByteString key, long created, Demand demand) {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        if (demand instanceof Demand.Exclusive) {
            txn.addSuccess(Txns.read(Txns.key(key)));
            txn.addSuccess(Txns.read(Txns.first(line).setKeysOnly(true)));
            txn.addSuccess(Txns.read(Txns.last(line, 1).setKeysOnly(true).setMaxCreateRevision(created - 1)));
        } else {
            RequestOp upToMe = Txns.read(Txns.line(line).setMaxCreateRevision(created));
            txn.addSuccess(upToMe);
        }
        return txn.build();
    }

    static Standing ofLook(TxnResponse response, ByteString key, Demand demand) {
        long revision = response.getHeader().getRevision();
        RangeResponse first = response.getResponses(0).getResponseRange();
        if (!(demand instanceof Demand.Exclusive)) {
            return ofLine(first.getKvsList(), key, demand, revision);
        }
        boolean present = first.getKvsCount() > 0;
        RangeResponse front = response.getResponses(1).getResponseRange();
        Optional<KeyValue> before = response.getResponses(2).getResponseRange().getKvsList().stream()
                .findFirst();
        return ofExclusive(present, front, before, key, revision);
    }

    private static Standing ofExclusive(
            boolean present, RangeResponse front, Optional<KeyValue> before, ByteString key, long revision) {
        if (before.isEmpty()) {
            return new Standing(present, List.of(), true, revision);
        }
        boolean beforeIsFirst = front.getKvsCount() > 0
                && front.getKvs(0).getKey().equals(before.get().getKey());
        // Read without its value: for an exclusive ticket everybody ahead is in the way, whatever he asks for.
        Obstacle predecessor = new Obstacle(
                before.get().getKey(), Demand.exclusive(), before.get().getLease());
        return new Standing(present, List.of(predecessor), beforeIsFirst, revision);
    }

    /** Of a line read from its front: up to a ticket, or as somebody new at its end would find it. */
    static Standing ofLine(List<KeyValue> line, ByteString key, Demand demand, long revision) {
        List<Obstacle> ahead = new ArrayList<>();
        boolean present = false;
        for (KeyValue kv : line) {
            if (kv.getKey().equals(key)) {
                present = true;
                break;
            }
            Demand asked = TicketNote.of(kv.getValue()).demand();
            if (!(demand instanceof Demand.Shared && asked instanceof Demand.Shared)) {
                ahead.add(new Obstacle(kv.getKey(), asked, kv.getLease()));
            }
        }
        return new Standing(present, List.copyOf(ahead), true, revision);
    }

    /** Whether the demand is admitted, as far as is known. */
    boolean admits(Demand demand) {
        if (!(demand instanceof Demand.Permits)) {
            return whole && obstacles.isEmpty();
        }
        Admission admission = new Admission();
        for (Obstacle ahead : obstacles) {
            if (!admission.admit(ahead.demand())) {
                return false;
            }
        }
        return admission.admit(demand);
    }

    boolean isHinderedBy(ByteString key) {
        return obstacles.stream().anyMatch(obstacle -> obstacle.key().equals(key));
    }

    /** Whether that key is in the way and was of that lease. */
    boolean isHinderedBy(ByteString key, long lease) {
        return obstacles.stream().anyMatch(obstacle -> obstacle.key().equals(key) && obstacle.lease() == lease);
    }

    Standing without(ByteString key) {
        List<Obstacle> left = obstacles.stream()
                .filter(obstacle -> !obstacle.key().equals(key))
                .toList();
        return new Standing(present, left, whole, revision);
    }

    /** Whom to watch: the nearest. Permits watch them all. */
    ByteString nearest() {
        return obstacles.get(obstacles.size() - 1).key();
    }
}
