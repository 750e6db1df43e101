package io.holdfast.etcd.session;

import io.holdfast.LossReason;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.RequestOp;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.util.Optional;

/*
 * Takes keys to sessions of their own, for an extension beyond the ttl of the common one.
 *
 * A move whose answer is missing may be made much later: when the key has moved elsewhere, or when the lease it has is counted
 * on while the one it would move to runs out. So a move is for the key as it was last read (its mod revision), and a renewal that
 * finds one not made rewrites the key as it is before it counts: from then on the move comes too late.
 *
 * The ticket may end while its key moves. Whoever ends it deletes the key by its create revision, on whatever lease it is, and
 * gives back the session it may have moved to (TicketKeys.forget). If nobody does, the key's time is up all the same.
 */
public final class SessionMoves {

    private final Sessions sessions;
    private final TicketKeys ticketKeys;
    private final EtcdClient client;

    public SessionMoves(Sessions sessions, EtcdClient client) {
        this.sessions = sessions;
        this.ticketKeys = sessions.ticketKeys();
        this.client = client;
    }

    /** Gives a key a session of its own, long enough. */
    public void toOwnSession(TicketKey key, Duration ttl, Deadline deadline) {
        Session own = sessions.openOwn(key.bytes(), ttl, deadline);
        key.beginMove(own);
        TxnResponse response = move(key, own, deadline);
        Optional<KeyValue> found = readIn(response);
        // A request may be made twice (a channel that repeats or hedges): then the second finds what the first has
        // done.
        boolean madeBefore = found.filter(key::isSame)
                .filter(kv -> kv.getLease() == own.lease())
                .isPresent();
        if (response.getSucceeded() || madeBefore) {
            ticketKeys.move(key, own);
            // What was asked for; that etcd counts whole seconds shall not make it longer.
            key.ticket().extended(ttl, own.baseNanos());
            return;
        }
        ticketKeys.cancelMove(key);
        if (found.filter(key::isSame).isPresent()) {
            throw RpcFailure.unavailable("its key changed meanwhile");
        }
        ticketKeys.lose(key, LossReason.GONE, "its key in etcd is gone");
    }

    /** What a transaction read whose condition was not met. */
    private static Optional<KeyValue> readIn(TxnResponse response) {
        return response.getSucceeded()
                ? Optional.empty()
                : response.getResponses(0).getResponseRange().getKvsList().stream()
                        .findFirst();
    }

    private TxnResponse move(TicketKey key, Session own, Deadline deadline) {
        try {
            return changeAsLastRead(key, key.put(own), deadline);
        } catch (RpcFailure failure) {
            if (failure.isNotApplied()) {
                ticketKeys.cancelMove(key);
            }
            throw failure;
        }
    }

    /** Makes sure that a move that was not made never will be. */
    public void preclude(TicketKey key, Deadline deadline) {
        TxnResponse response = changeAsLastRead(key, Txns.rewriteAsIs(key.bytes()), deadline);
        Optional<KeyValue> found = readIn(response);
        // Whoever changed it, perhaps this very request made twice: the move was for the key as it was before.
        boolean changedHere = found.filter(key::isSame)
                .filter(kv -> kv.getLease() == key.session().lease())
                .isPresent();
        if (!response.getSucceeded() && !changedHere) {
            throw RpcFailure.unavailable("its key changed meanwhile");
        }
        key.changedAt(
                found.map(KeyValue::getModRevision).orElse(response.getHeader().getRevision()));
        ticketKeys.cancelMove(key);
    }

    /** Changes a key if it is as it was last read, else reads it. */
    private TxnResponse changeAsLastRead(TicketKey key, RequestOp change, Deadline deadline) {
        TxnRequest txn = Txns.ifAll(change, Txns.changedAt(key.bytes(), key.changeRevision())).toBuilder()
                .addFailure(Txns.read(Txns.key(key.bytes())))
                .build();
        return client.txn(txn, EtcdClient.Repeat.NEVER, deadline);
    }
}
