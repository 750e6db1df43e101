package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * A ticket's wait for its turn.
 *
 * It watches whoever must go (a reader the nearest who is not one, a permit all of the line) and acts on what it is told:
 *
 *   - The last obstacle went: admitted, with no further request. Not if the obstacle was of our own session: then the whole
 *     session may have been revoked, our key with it, and the news of that is on another watch. One look tells.
 *   - Somebody went whose going does not suffice: one look.
 *   - The watch opened later than what we know (opened(s), s > revision): one look.
 *
 * Looks do not overlap: news that comes while one is under way calls for another when it is answered. A look that fails is
 * repeated after a pause. The heartbeat sees whether the nearest is gone and brings a look then, so for those who wait for it
 * alone even a lost event costs a third of the ttl at most; permits, whom anybody's going may admit, rely on their watch.
 */
final class Wait implements WatchHub.Watcher, AutoCloseable {

    private static final long PAUSE_NANOS = Duration.ofMillis(100).toNanos();

    private final TicketKey key;
    private final ByteString line;
    private final EtcdClient client;
    private final WatchHub hub;
    private final StoreContext context;
    private final Demand demand;

    private Standing standing; // guarded by this
    private WatchHub.@Nullable Watch watch; // guarded by this
    private boolean looking; // guarded by this
    private boolean lookAgain; // guarded by this
    private boolean closed; // guarded by this

    Wait(TicketKey key, ByteString line, Standing standing, EtcdClient client, WatchHub hub, StoreContext context) {
        this.key = key;
        this.line = line;
        this.standing = standing;
        this.client = client;
        this.hub = hub;
        this.context = context;
        this.demand = key.ticket().demand();
    }

    synchronized void start() {
        watchNearest();
    }

    /** Whose going is waited for. */
    synchronized ByteString nearest() {
        return standing.nearest();
    }

    @Override
    public synchronized void opened(long revision) {
        if (revision > standing.revision()) {
            look();
        }
    }

    @Override
    public void registeredBy(long revision) {
        opened(revision);
    }

    @Override
    public void deleted(List<KeyValue> gone) {
        synchronized (this) {
            if (closed) {
                return;
            }
            if (looking) {
                lookAgain = true;
                return;
            }
            Standing left = standing;
            for (KeyValue kv : gone) {
                if (kv.getModRevision() <= standing.revision()) {
                    continue;
                }
                if (kv.getKey().equals(key.bytes())
                        || left.isHinderedBy(kv.getKey(), key.session().lease())) {
                    look();
                    return;
                }
                left = left.without(kv.getKey());
            }
            if (left.obstacles().size() == standing.obstacles().size()) {
                return;
            }
            if (!left.admits(demand)) {
                if (demand instanceof Demand.Permits) {
                    standing = left;
                } else {
                    look();
                }
                return;
            }
        }
        admit();
    }

    /** An exclusive holder may have become a shared one. */
    @Override
    public synchronized void changed(KeyValue now) {
        if (demand instanceof Demand.Shared && standing.isHinderedBy(now.getKey())) {
            look();
        }
    }

    /** Asks etcd where the ticket stands. */
    synchronized void look() {
        if (closed) {
            return;
        }
        if (looking) {
            lookAgain = true;
            return;
        }
        TxnRequest question = Standing.look(line, key.bytes(), key.revision(), demand);
        looking = true;
        lookAgain = false;
        client.callAsync(KVGrpc.getTxnMethod(), question)
                .thenApply(answer -> Standing.ofLook(answer, key.bytes(), demand))
                .whenComplete(this::looked);
    }

    private void looked(@Nullable Standing now, @Nullable Throwable failure) {
        synchronized (this) {
            looking = false;
            if (closed) {
                return;
            }
            if (now == null) {
                lookLater();
                return;
            }
            if (now.present() && !now.admits(demand)) {
                standing = now;
                watchNearest();
                if (lookAgain) {
                    look();
                }
                return;
            }
        }
        if (now.present()) {
            admit();
        } else {
            close();
            key.ticket().gone(LossReason.GONE, "its key in etcd is gone: its lease ended, or somebody deleted it");
        }
    }

    private void lookLater() {
        context.timer()
                .at(
                        context.time().nanoTime() + PAUSE_NANOS,
                        () -> context.background().execute(this::look));
    }

    private void watchNearest() {
        if (closed) {
            return;
        }
        boolean all = demand instanceof Demand.Permits;
        ByteString watched = all ? line : standing.nearest();
        if (watch != null && watch.key().equals(watched)) {
            return;
        }
        if (watch != null) {
            watch.close();
        }
        watch = hub.watch(watched, all ? Keys.endOf(line) : ByteString.EMPTY, this);
    }

    private void admit() {
        close();
        key.reportGrant();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            if (watch != null) {
                watch.close();
                watch = null;
            }
        }
    }
}
