package io.holdfast.etcd.session;

import com.google.protobuf.ByteString;
import io.holdfast.LossReason;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.internal.wire.TxnResponse;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Withdrawal;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

/*
 * What becomes of the keys of this client's tickets.
 *
 * A key is in its session from before it is written until it is forgotten, because it is certainly gone. It is live until it is
 * abandoned, because nobody wants it any more though it may be there, or may come yet. What is abandoned the sweep looks for.
 *
 * Nothing is deleted but under a condition that is true only of what is meant to go: a delete may be decided on what has
 * changed since, arrive late, or twice, when its slot has another user. The create revision says that it is this key, or, as
 * long as that is unknown, what was written, which names the acquisition; whoever can be overtaken by a move to another lease (an
 * extension, lingering) and must not undo it, also says which lease the key is to have.
 */
public final class TicketKeys {

    private static final Logger LOG = System.getLogger(TicketKeys.class.getName());

    /** Each may be in one of two slots, and a transaction has room for about a hundred. */
    private static final int WITHDRAWN_TOGETHER = 50;

    private final EtcdClient client;
    private final Consumer<Session> discard;

    /** @param discard gives back a session nothing is held through */
    TicketKeys(EtcdClient client, Consumer<Session> discard) {
        this.client = client;
        this.discard = discard;
    }

    /** A key is certainly gone, or was never written. */
    public void forget(TicketKey key) {
        key.stopWaiting();
        Session session = key.session();
        session.keys().remove(key);
        cancelMove(key);
        discardIfDone(session);
    }

    /** A session has ended, and all its keys with it. */
    void forgetAll(Session session) {
        // A key may have moved with the answer lost: then it lives on another lease than this.
        session.keys().forEach(this::cancelMove);
        session.keys().clear();
    }

    /** A key is gone by somebody else's doing. */
    public void lose(TicketKey key, LossReason reason, String why) {
        key.ticket().gone(reason, why);
        forget(key);
    }

    /** Nobody wants a key any more, but it may be there, or may come yet. */
    public void abandon(TicketKey key) {
        key.stopWaiting();
        key.markAbandoned(client.nanoTime());
    }

    /** A key has gone over to another session, wanted or not. It is lost if that has ended. */
    void move(TicketKey key, Session to) {
        Session from = key.session();
        if (from == to) {
            // Whoever read the key before the move was answered has done so already.
            return;
        }
        if (!to.enter(key)) {
            // It ended before the answer came, and told only those who were in it.
            lose(key, LossReason.GONE, "the lease it has just moved to has ended");
            return;
        }
        if (key.finishMove(to)) {
            from.keys().remove(key);
            discardIfDone(from);
        } else if (key.session() != to) {
            to.keys().remove(key);
        }
    }

    /** A key does not go over to another session, now or ever. */
    void cancelMove(TicketKey key) {
        Session other = key.movesTo();
        if (other != null) {
            cancelMove(key, other);
        }
    }

    /** A key does not go over to that session, now or ever. */
    void cancelMove(TicketKey key, Session to) {
        if (key.cancelMove(to)) {
            discard.accept(to);
        }
    }

    private void discardIfDone(Session session) {
        if (session.kind() == Session.Kind.OWN && session.keys().isEmpty()) {
            discard.accept(session);
        }
    }

    /**
     * Deletes a key that nobody wants any more, and others of its session with it: a crowd that gives up is asked for one by one, on one
     * thread.
     */
    public Withdrawal withdraw(TicketKey key, Deadline deadline) {
        abandon(key);
        List<TicketKey> some = Stream.concat(
                        Stream.of(key),
                        key.session().keys().stream().filter(other -> other != key && other.isGivenUp()))
                .limit(WITHDRAWN_TOGETHER)
                .toList();
        Deletion done = delete(some, key.session(), deadline);
        for (TicketKey one : some) {
            if (done.refused().containsKey(one)) {
                continue;
            }
            if (one != key) {
                one.noteWithdrawal(answer(done.wasThere(one)));
            }
            if (done.wasThere(one) || one.revision() > 0) {
                // It was there and is gone. Should its request be made once more, the sweep finds that.
                forget(one);
            }
        }
        return answer(done.wasThere(key));
    }

    private static Withdrawal answer(boolean wasThere) {
        return wasThere ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    /**
     * What became of keys that were to be deleted.
     *
     * @param there those that were there
     * @param refused those the login has lost its right to
     */
    record Deletion(Set<TicketKey> there, Map<TicketKey, RpcFailure> refused) {

        /** @throws RpcFailure if the login has lost its right to it */
        boolean wasThere(TicketKey key) {
            RpcFailure refusal = refused.get(key);
            if (refusal != null) {
                throw refusal;
            }
            return there.contains(key);
        }
    }

    private record KeyInSlot(TicketKey key, ByteString slot) {

        TxnRequest deletion(Session session) {
            return Txns.ifAll(Txns.delete(slot), key.isIn(slot), Txns.boundTo(slot, session.lease()));
        }
    }

    /** Deletes keys that are still in that session: none that has moved to linger meanwhile. */
    Deletion delete(Collection<TicketKey> those, Session session, Deadline deadline) {
        Deletion done = new Deletion(new HashSet<>(), new HashMap<>());
        List<KeyInSlot> places = those.stream()
                .flatMap(key -> key.slots().stream().map(slot -> new KeyInSlot(key, slot)))
                .toList();
        client.txns(
                places,
                some -> Txns.each(
                        some.stream().map(place -> place.deletion(session)).toList()),
                (some, response) -> {
                    List<Boolean> made = Txns.made(some.size(), response);
                    for (int i = 0; i < some.size(); i++) {
                        if (made.get(i)) {
                            done.there().add(some.get(i).key());
                        }
                    }
                },
                (place, failure) -> done.refused().put(place.key(), failure),
                deadline);
        return done;
    }

    /** As {@link #delete}, without waiting for it, of one that is known to have been there. */
    CompletableFuture<TxnResponse> deleteAsync(TicketKey key, Session session) {
        return client.callAsync(KVGrpc.getTxnMethod(), new KeyInSlot(key, key.bytes()).deletion(session));
    }

    /** Deletes keys that are still in that session. Whether it could. */
    boolean deleteAll(Set<TicketKey> left, Session session, Deadline deadline) {
        try {
            return delete(left, session, deadline).refused().isEmpty();
        } catch (RpcFailure failure) {
            LOG.log(Level.DEBUG, () -> "Could not clear " + session + " yet: " + failure.getMessage());
            return false;
        }
    }
}
