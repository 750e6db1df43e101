package io.holdfast.etcd;

import io.grpc.Status;
import io.holdfast.StoreUnavailableException;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.RenewalAnswer;
import java.time.Duration;

/*
 * Takes keys to leases of their own, for an extension beyond the ttl of the common one.
 *
 * A move whose answer is missing may be made much later: when the key has moved elsewhere, or when the lease it has is counted
 * on while the one it would move to runs out. So a move is for the key as it was last read (its mod revision), and a renewal that
 * finds one not made rewrites the key as it is before it counts: from then on the move comes too late.
 */
final class Moves {

    private final Sessions sessions;
    private final EtcdClient client;

    Moves(Sessions sessions, EtcdClient client) {
        this.sessions = sessions;
        this.client = client;
    }

    /** Gives a place a lease of its own, long enough. */
    RenewalAnswer toOwnLease(Place place, Duration ttl, Deadline deadline) {
        Session own = sessions.openOwn(ttl, deadline);
        place.mayMoveTo(own);
        TxnResponse response = move(place, own, deadline);
        if (!response.getSucceeded()) {
            sessions.stay(place);
            boolean there = response.getResponses(0).getResponseRange().getKvsCount() > 0;
            return there
                    ? new RenewalAnswer.Unsettled(
                            new StoreUnavailableException(place.request().name(), "its key changed meanwhile"))
                    : new RenewalAnswer.Gone("its key in etcd is gone");
        }
        sessions.move(place, own);
        if (!place.keep(own.baseNanos(), own.ttl())) {
            if (place.state() != Place.State.LINGERING) {
                // It was given up meanwhile, and its key must not stay for as long as the new lease would. Where it has
                // moved on, to linger, it stays.
                sessions.doubt(place);
                sessions.deleteNow(place.key(), deadline, place.isThere(), place.isBoundTo(own));
                sessions.forget(place);
            }
            return new RenewalAnswer.Gone("it ended before the answer came");
        }
        // What was asked for; that etcd counts whole seconds shall not make it longer.
        return new RenewalAnswer.Extended(own.baseNanos(), ttl);
    }

    private TxnResponse move(Place place, Session own, Deadline deadline) {
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.changedAt(place.key(), place.changeRevision()))
                .addSuccess(Txns.put(place.key(), place.note().toValue(), own.lease()))
                .addFailure(Txns.read(Txns.key(place.key())))
                .build();
        try {
            return send(txn, deadline);
        } catch (RpcFailure failure) {
            // If it was given up meanwhile nobody else may look for the new lease any more.
            if (failure.isNotApplied() || place.state() == Place.State.OVER) {
                sessions.stay(place);
            }
            throw failure;
        }
    }

    /** Makes sure that a move that was not made never will be. */
    void preclude(Place place, Deadline deadline) {
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.changedAt(place.key(), place.changeRevision()))
                .addSuccess(Txns.rewriteAsIs(place.key()))
                .build();
        TxnResponse response = send(txn, deadline);
        if (!response.getSucceeded()) {
            throw RpcFailure.of(Status.UNAVAILABLE.withDescription("its key changed meanwhile"), false);
        }
        place.changedAt(response.getHeader().getRevision());
        sessions.stay(place);
    }

    private TxnResponse send(TxnRequest txn, Deadline deadline) {
        return client.call(KVGrpc.getTxnMethod(), txn, EtcdClient.Repeat.NEVER, deadline);
    }
}
