package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.client.EtcdClient;
import io.holdfast.etcd.client.WatchHub;
import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.RangeResponse;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.etcd.session.TicketKey;
import io.holdfast.spi.StoreContext;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One ticket far ahead of this client's first. */
final class FarWatch extends QueueWatch {

    private @Nullable KeyValue ahead; // null until it is known
    private long revision; // as of which

    FarWatch(LockWaiters queue, EtcdClient client, WatchHub hub, StoreContext context) {
        super(queue, client, hub, context);
    }

    @Override
    void open() {
        askAgain();
    }

    @Override
    void askAgain() {
        long first = queue.waiting().firstKey();
        ask(deadline -> client.range(Txns.upTo(queue.start(), first, LockWaiters.NEAR + 1), deadline), this::looked);
    }

    private List<Runnable> looked(RangeResponse answer) {
        if (queue.waiting().isEmpty()) {
            return List.of();
        }
        if (answer.getKvsCount() <= LockWaiters.NEAR) {
            // If it is gone, the view will tell.
            queue.seeNear();
            return List.of();
        }
        KeyValue last = answer.getKvs(LockWaiters.NEAR);
        boolean watched = ahead != null && ahead.getCreateRevision() == last.getCreateRevision();
        ahead = last;
        revision = answer.getHeader().getRevision();
        if (!watched) {
            watch(last.getKey(), ByteString.EMPTY);
        }
        return List.of();
    }

    /** It may have gone between the look and this. */
    @Override
    public void opened(long openedAt) {
        synchronized (queue) {
            if (openedAt > revision) {
                lookAgain();
            }
        }
    }

    @Override
    public void changed(List<Event> events) {
        synchronized (queue) {
            lookAgain();
        }
    }

    private void lookAgain() {
        if (isCurrent() && !queue.waiting().isEmpty()) {
            askAgain();
        }
    }

    /** While nobody waited nobody looked, whatever the watch told. */
    @Override
    List<Runnable> joined(TicketKey key) {
        if (queue.waiting().size() == 1 && !isAsking()) {
            askAgain();
        }
        return List.of();
    }

    @Override
    Optional<KeyValue> reliesOn() {
        return Optional.ofNullable(ahead);
    }

    @Override
    boolean covers(TicketKey waiter) {
        return ahead != null;
    }
}
