package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.grpc.Channel;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.EtcdSettings;
import io.holdfast.etcd.client.RpcFailure;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.etcd.session.Renewals;
import io.holdfast.etcd.session.Sessions;
import io.holdfast.etcd.ticket.LockViews;
import io.holdfast.etcd.ticket.Tickets;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Keeps each lock's queue as keys in etcd, ordered by create revision. The protocol is told in {@link Tickets}. Thread-safe. */
final class EtcdStore implements DowngradingStore, AdministeredStore {

    /** etcd's own minimum with its default election timeout; it raises shorter ones, silently. */
    private static final Duration MIN_TTL = Duration.ofSeconds(2);

    private static final Duration MAX_TTL = Duration.ofDays(365);

    private final StoreTraits traits;
    private final Keys keys;
    private final EtcdClient client;
    private final Sessions sessions;
    private final Tickets tickets;
    private final Renewals renewals;
    private final LockViews views;

    EtcdStore(EtcdSettings settings, @Nullable Channel given, StoreContext context) {
        this.traits = StoreTraits.of(settings.display()).withTtls(MIN_TTL, MAX_TTL);
        this.keys = new Keys(settings.prefix());
        this.client = new EtcdClient(settings, given, context);
        this.sessions = new Sessions(settings, client, context, keys);
        this.tickets = new Tickets(context, keys, client, sessions);
        this.renewals = new Renewals(sessions, client);
        this.views = new LockViews(client, keys);
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        return about(ticket.name(), () -> tickets.request(ticket, mode, deadline));
    }

    @Override
    public void renew(List<Ticket> those, Deadline deadline) {
        renewals.renew(those, deadline);
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        about(ticket.name(), () -> {
            renewals.extend(ticket, ttl, deadline);
            return ticket;
        });
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        return about(ticket.name(), () -> tickets.release(ticket, linger, deadline));
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        return about(ticket.name(), () -> tickets.withdraw(ticket, deadline));
    }

    @Override
    public void downgrade(Ticket exclusive, Deadline deadline) {
        about(exclusive.name(), () -> {
            tickets.downgrade(exclusive, deadline);
            return exclusive;
        });
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        return about(name, () -> {
            int freed = 0;
            for (KeyValue holder : views.holders(name, deadline)) {
                freed += deleteAndTell(holder, deadline) ? 1 : 0;
            }
            return freed;
        });
    }

    /** Deletes a holder's key and tells its session so, in one step. Whether the key was still there. */
    private boolean deleteAndTell(KeyValue holder, Deadline deadline) {
        ByteString session = keys.session(holder.getLease());
        ByteString news = ByteString.copyFromUtf8(Keys.FORCED + holder.getCreateRevision());
        TxnRequest.Builder tell =
                TxnRequest.newBuilder().addCompare(Txns.present(session)).addSuccess(Txns.rewrite(session, news));
        TxnRequest txn = TxnRequest.newBuilder()
                .addCompare(Txns.createdAt(holder.getKey(), holder.getCreateRevision()))
                .addSuccess(Txns.delete(holder.getKey()))
                .addSuccess(Txns.nested(tell))
                .build();
        return client.txn(txn, EtcdClient.Repeat.NEVER, deadline).getSucceeded();
    }

    /** Tokens are revisions: there are no counters to clear away. */
    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return 0;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        try {
            return views.view(name, deadline);
        } catch (RpcFailure failure) {
            throw failure.asNotApplied().about(name);
        }
    }

    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        try {
            return views.views(prefix, after, limit, deadline);
        } catch (RpcFailure failure) {
            throw failure.ofWholeStore();
        }
    }

    /** A read that etcd answers only after a majority has confirmed its leader, of a key that a lock's user may read. */
    @Override
    public void ping(Deadline deadline) {
        try {
            client.range(Txns.key(keys.session(0)), deadline);
        } catch (RpcFailure failure) {
            // The right to a key is looked at after the majority was asked.
            if (!failure.isForbidden()) {
                throw failure.ofWholeStore();
            }
        }
    }

    /** Turns failures into what they mean for a lock. */
    private static <T> T about(String lockName, Supplier<T> request) throws LockException {
        try {
            return request.get();
        } catch (RpcFailure failure) {
            throw failure.about(lockName);
        }
    }

    @Override
    public void close() {
        sessions.close();
        client.close();
    }
}
