package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.LossReason;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.WatchHub;
import io.holdfast.etcd.internal.wire.KVGrpc;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.TxnRequest;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.session.TicketKey;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/*
 * Finds out when a waiting ticket is admitted.
 *
 * It watches whoever must go (a reader the nearest who is not one, a permit all of the queue) and acts on what it is told:
 *
 *   - The last predecessor went: admitted, with no further request. Not if that one was of our own session: then the whole
 *     session may have been revoked, our key with it, and the news of that is on another watch. One look tells.
 *   - Somebody went whose going does not suffice: one look.
 *   - The watch opened later than what we know (opened(s), s > revision): one look.
 *
 * Looks do not overlap: news that comes while one is under way calls for another when it is answered. A look that fails is
 * repeated after a pause. The heartbeat sees whether the nearest is gone and brings a look then, so for those who wait for it
 * alone even a lost event costs a third of the ttl at most; permits, whom anybody's going may admit, rely on their watch.
 */
final class PredecessorWatch implements TicketKey.Waiting, WatchHub.Watcher {

    private static final long PAUSE_NANOS = Duration.ofMillis(100).toNanos();

    private final TicketKey key;
    private final ByteString queue;
    private final EtcdClient client;
    private final WatchHub hub;
    private final StoreContext context;
    private final Demand demand;

    private Predecessors predecessors; // guarded by this
    private WatchHub.@Nullable Watch watch; // guarded by this
    private boolean looking; // guarded by this
    private boolean lookAgain; // guarded by this
    private boolean closed; // guarded by this

    PredecessorWatch(
            TicketKey key,
            ByteString queue,
            Predecessors predecessors,
            EtcdClient client,
            WatchHub hub,
            StoreContext context) {
        this.key = key;
        this.queue = queue;
        this.predecessors = predecessors;
        this.client = client;
        this.hub = hub;
        this.context = context;
        this.demand = key.ticket().demand();
    }

    synchronized void start() {
        watchNearest();
    }

    @Override
    public synchronized ByteString nearest() {
        return predecessors.nearest();
    }

    @Override
    public synchronized void opened(long revision) {
        if (revision > predecessors.revision()) {
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
            Predecessors left = predecessors;
            for (KeyValue kv : gone) {
                if (kv.getModRevision() <= predecessors.revision()) {
                    continue;
                }
                if (kv.getKey().equals(key.bytes())
                        || left.has(kv.getKey(), key.session().lease())) {
                    look();
                    return;
                }
                left = left.without(kv.getKey());
            }
            if (left.those().size() == predecessors.those().size()) {
                return;
            }
            if (!left.admits(demand)) {
                if (demand instanceof Demand.Permits) {
                    predecessors = left;
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
        if (demand instanceof Demand.Shared && predecessors.has(now.getKey())) {
            look();
        }
    }

    @Override
    public synchronized void look() {
        if (closed) {
            return;
        }
        if (looking) {
            lookAgain = true;
            return;
        }
        TxnRequest question = Predecessors.look(queue, key.bytes(), key.revision(), demand);
        looking = true;
        lookAgain = false;
        client.callAsync(KVGrpc.getTxnMethod(), question)
                .thenApply(answer -> Predecessors.ofLook(answer, key.bytes(), demand))
                .whenComplete(this::looked);
    }

    private void looked(@Nullable Predecessors now, @Nullable Throwable failure) {
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
                predecessors = now;
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
        ByteString watched = all ? queue : predecessors.nearest();
        if (watch != null && watch.key().equals(watched)) {
            return;
        }
        if (watch != null) {
            watch.close();
        }
        watch = hub.watch(watched, all ? Keys.endOf(queue) : ByteString.EMPTY, this);
    }

    private void admit() {
        close();
        key.reportGrant();
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (watch != null) {
            watch.close();
            watch = null;
        }
    }
}
