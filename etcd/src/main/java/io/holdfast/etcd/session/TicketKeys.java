package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.LossReason;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.Compare;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/*
 * What becomes of the keys of this client's tickets.
 *
 * A key is live in its session from before it is written until it is forgotten, because it is certainly gone, or abandoned,
 * because nobody wants it any more though it may be there, or may come yet. What is abandoned the sweep looks for.
 *
 * Nothing is deleted but under a condition that is true only of what is meant to go: a delete may be decided on what has
 * changed since, or arrive late. The create revision says that it is this key; whoever can be overtaken by a move to another
 * lease (an extension, lingering) and must not undo it, also says which lease the key is to have.
 */
public final class TicketKeys {

    private static final Logger LOG = System.getLogger(TicketKeys.class.getName());

    private final EtcdClient client;
    private final TimeSource time;
    private final Consumer<Session> discard;

    /** @param discard gives back a session nothing is held through */
    TicketKeys(EtcdClient client, TimeSource time, Consumer<Session> discard) {
        this.client = client;
        this.time = time;
        this.discard = discard;
    }

    /** A key is certainly gone, or was never written. */
    public void forget(TicketKey key) {
        key.stopWaiting();
        Session session = key.session();
        session.live().remove(key.bytes());
        session.unwanted().remove(key.bytes());
        cancelMove(key);
        discardIfDone(session);
    }

    /** A key nobody wanted was found and deleted. */
    void forgetUnwanted(Session session, ByteString key) {
        Session.Unwanted known = session.unwanted().get(key);
        if (known != null) {
            forget(known.key());
        }
    }

    /** A session has ended, and all its keys with it. */
    void forgetAll(Session session) {
        // A key may have moved with the answer lost: then it lives on another lease than this.
        session.live().values().forEach(this::cancelMove);
        session.unwanted().values().forEach(unwanted -> cancelMove(unwanted.key()));
        session.live().clear();
        session.unwanted().clear();
    }

    /** A key is gone by somebody else's doing. */
    public void lose(TicketKey key, LossReason reason, String why) {
        key.ticket().gone(reason, why);
        forget(key);
    }

    /** Nobody wants a key any more, but it may be there, or may come yet. */
    public void abandon(TicketKey key) {
        key.stopWaiting();
        Session session = key.session();
        session.unwanted().putIfAbsent(key.bytes(), new Session.Unwanted(key, time.nanoTime()));
        session.live().remove(key.bytes());
        if (key.session() != session && session.unwanted().remove(key.bytes()) != null) {
            abandon(key);
        }
    }

    /** A key has gone over to another session, wanted or not. */
    public void move(TicketKey key, Session to) {
        Session from = key.session();
        if (from == to) {
            // Whoever read the key before the move was answered has done so already.
            return;
        }
        to.live().put(key.bytes(), key);
        key.finishMove(to);
        from.live().remove(key.bytes());
        if (from.unwanted().remove(key.bytes()) != null) {
            abandon(key);
        }
        discardIfDone(from);
    }

    /** A key does not go over to another session, now or ever. */
    void cancelMove(TicketKey key) {
        Session other = key.cancelMove();
        if (other != null) {
            discard.accept(other);
        }
    }

    private void discardIfDone(Session session) {
        if (session.kind() == Session.Kind.OWN && session.live().isEmpty()) {
            discard.accept(session);
        }
    }

    /** Deletes a key if all of that is true of it; twice is no harm. Whether it was. */
    public boolean delete(ByteString key, Deadline deadline, Compare... conditions) {
        return client.call(KVGrpc.getTxnMethod(), deletion(key, conditions), EtcdClient.Repeat.HARMLESS, deadline)
                .getSucceeded();
    }

    /** As {@link #delete}, without waiting for it. */
    CompletableFuture<TxnResponse> deleteAsync(ByteString key, Compare... conditions) {
        return client.callAsync(KVGrpc.getTxnMethod(), deletion(key, conditions));
    }

    /** Deletes keys that are still in that session. Whether all of them; else those that are left have not been. */
    boolean deleteAll(Set<TicketKey> left, Session session, Deadline deadline) {
        try {
            for (TicketKey key : List.copyOf(left)) {
                // Not if it has moved to linger meanwhile.
                delete(key.bytes(), deadline, key.isThere(), key.isBoundTo(session));
                left.remove(key);
            }
        } catch (RpcFailure failure) {
            LOG.log(Level.DEBUG, () -> "Could not clear " + session + " yet: " + failure.getMessage());
        }
        return left.isEmpty();
    }

    private static TxnRequest deletion(ByteString key, Compare... conditions) {
        return TxnRequest.newBuilder()
                .addAllCompare(List.of(conditions))
                .addSuccess(Txns.delete(key))
                .build();
    }
}
