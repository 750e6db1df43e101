package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.etcd.internal.wire.Compare;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.RangeRequest;
import io.holdfast.etcd.internal.wire.RangeResponse;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.internal.wire.ResponseOp;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.etcd.session.TicketKey;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.stream.Stream;

/*
 * How a ticket gets a slot of its lock: one transaction that looks at two of them.
 *
 * Everybody uses slot 0 if it is not known to be taken, so a lock that is taken a million times is one name in etcd's index. In a
 * crowd two are drawn, the first from about twice as many as there are tickets, the second from more in case that the first
 * is taken. If both are, the answer says how large the crowd is, for the next draw.
 *
 * Readers have slots of their own, so that one who joins need neither read what everybody asks for nor have all readers counted: if
 * no ticket is outside of such slots, all are readers, and he holds the lock beside them. Nothing in such a slot ever turns exclusive.
 *
 * To count is to walk the names in etcd's index, inside a write. A client that sees others in an exact view does without: the view tells.
 *
 * A slot is written only if it is empty. If it holds what this very request writes, the request was made before: by a channel
 * that repeats or hedges requests, or by a retry of its owner's. Then the ticket is that one, with that create revision; the
 * revision of the answer would make a token that no key ever has.
 */
final class Slots {

    private static final int DRAWS = 8;

    /** So many names more than that a crowd needs: who knows of no crowd may meet one, and drawing again costs a write. */
    private static final int SPARE = 64;

    private Slots() {}

    /**
     * Two of them, for a ticket in a crowd of about that size; 0 if nobody else is known of.
     *
     * @param taken whether a slot is known to be taken
     */
    static List<ByteString> draw(TicketKey key, ByteString queue, long crowd, Predicate<ByteString> taken) {
        ByteString start = startOf(key, queue);
        ByteString first = slot(key, start, 0);
        for (int i = 0; i < DRAWS && taken.test(first); i++) {
            first = slot(key, start, below(2 * crowd + 4));
        }
        ByteString second = first;
        while (second.equals(first)) {
            second = slot(key, start, below(8 * crowd + SPARE));
        }
        return List.of(first, second);
    }

    /** What the slots begin with that a ticket may have. */
    static ByteString startOf(TicketKey key, ByteString queue) {
        return isReader(key) ? Keys.readers(queue) : queue;
    }

    private static boolean isReader(TicketKey key) {
        return key.ticket().demand() instanceof Demand.Shared;
    }

    private static long below(long bound) {
        return ThreadLocalRandom.current().nextLong(bound);
    }

    static ByteString slot(TicketKey key, ByteString start, long number) {
        return start.concat(ByteString.copyFromUtf8(key.session().slot(number)));
    }

    /**
     * What a request to write a ticket found.
     *
     * @param mine the ticket, if it is written
     * @param admitted whether it holds the lock, as far as numbers can tell: it is alone, or a reader among readers
     * @param count how many may be in its way, if that was asked; if it is not written, how many are in slots of its kind
     * @param other any ticket of the lock, if it was to be written only if there is none and is not
     */
    record Outcome(Optional<KeyValue> mine, boolean admitted, long count, Optional<KeyValue> other) {}

    /**
     * Writes a ticket in the first of its slots that is empty.
     *
     * @param counting whether those in its way are to be counted
     */
    static TxnRequest join(TicketKey key, ByteString queue, boolean counting) {
        ByteString first = key.slots().get(0);
        ByteString second = key.slots().get(1);
        List<RangeRequest.Builder> counts = counting ? inTheWay(key, queue) : List.of();
        TxnRequest.Builder useSecond =
                putIfEmpty(key, second, counts).addAllFailure(read(second, List.of(Txns.count(startOf(key, queue)))));
        TxnRequest.Builder keepFirst = TxnRequest.newBuilder()
                .addCompare(Txns.says(first, key.firstValue()))
                .addAllSuccess(read(first, counts))
                .addFailure(Txns.nested(useSecond));
        return onlyWhileMarked(key, putIfEmpty(key, first, counts).addFailure(Txns.nested(keepFirst)));
    }

    /** Those it may have to wait for: all, itself among them, or all who are no readers. */
    private static List<RangeRequest.Builder> inTheWay(TicketKey key, ByteString queue) {
        ByteString readers = Keys.readers(queue);
        return isReader(key)
                ? List.of(Txns.count(queue, readers), Txns.count(Keys.endOf(readers), Keys.endOf(queue)))
                : List.of(Txns.count(queue));
    }

    /** Writes a ticket in the first slot if its lock has none. */
    static TxnRequest joinIfFree(TicketKey key, ByteString queue) {
        ByteString first = key.slots().get(0);
        return onlyWhileMarked(
                key,
                putIfEmpty(key, first, List.of())
                        // The last reads all values, and is looked at only if the first slots are empty: in a crowd
                        // they hardly are.
                        .addCompare(Txns.absent(slot(key, Keys.readers(queue), 0)))
                        .addCompare(Txns.nothingBelow(queue))
                        .addAllFailure(read(first, List.of(Txns.any(queue)))));
    }

    private static TxnRequest.Builder putIfEmpty(TicketKey key, ByteString slot, List<RangeRequest.Builder> counts) {
        return TxnRequest.newBuilder()
                .addCompare(Txns.absent(slot))
                .addSuccess(Txns.put(slot, key.firstValue(), key.session().lease()))
                .addAllSuccess(read(slot, counts));
    }

    private static List<RequestOp> read(ByteString slot, List<RangeRequest.Builder> more) {
        return Stream.concat(Stream.of(Txns.one(slot)), more.stream())
                .map(Txns::read)
                .toList();
    }

    private static TxnRequest onlyWhileMarked(TicketKey key, TxnRequest.Builder txn) {
        Optional<Compare> marked = key.session().marker().map(Txns::present);
        return marked.map(condition -> TxnRequest.newBuilder()
                        .addCompare(condition)
                        .addSuccess(Txns.nested(txn))
                        .build())
                .orElseGet(txn::build);
    }

    /** Whether a transaction was made at all: not on a lease of others once the client is closed. */
    static boolean wasMarked(TxnResponse response) {
        return response.getResponsesCount() > 0;
    }

    /** What stands in the slot that was tried last, if it is this ticket, and the rest of what was read. */
    static Outcome outcome(TicketKey key, TxnResponse response) {
        TxnResponse inner = response;
        while (inner.getResponses(0).hasResponseTxn()) {
            inner = inner.getResponses(0).getResponseTxn();
        }
        List<RangeResponse> read = inner.getResponsesList().stream()
                .filter(ResponseOp::hasResponseRange)
                .map(ResponseOp::getResponseRange)
                .toList();
        Optional<KeyValue> mine = read.get(0).getKvsList().stream()
                .filter(kv -> kv.getValue().equals(key.firstValue()))
                .findFirst();
        List<RangeResponse> more = read.subList(1, read.size());
        long count = more.stream().mapToLong(RangeResponse::getCount).sum();
        boolean admitted = mine.isPresent() && !more.isEmpty() && count == (isReader(key) ? 0 : 1);
        Optional<KeyValue> other =
                more.stream().flatMap(range -> range.getKvsList().stream()).findFirst();
        return new Outcome(mine, admitted, count, other);
    }
}
