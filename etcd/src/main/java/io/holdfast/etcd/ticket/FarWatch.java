package io.holdfast.etcd.ticket;

import com.google.protobuf.ByteString;
import io.holdfast.Demand;
import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.internal.wire.RangeResponse;
import io.holdfast.etcd.layout.Txns;
import io.holdfast.etcd.session.TicketKey;
import io.holdfast.etcd.ticket.QueueView.Ahead;
import io.holdfast.spi.Deadline;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One ticket far ahead of this client's first. */
final class FarWatch extends QueueWatch {

    private @Nullable Ahead ahead; // null until it is known
    private long revision; // as of which
    private @Nullable TicketKey lookedFor; // the first when the last look began; null if nobody has waited since

    FarWatch(LockWaiters queue) {
        super(queue);
    }

    @Override
    void open() {
        askAgain();
    }

    /**
     * What a look found.
     *
     * @param ahead empty if the front is near
     */
    private record Look(Optional<Ahead> ahead, long revision) {}

    @Override
    void askAgain() {
        TicketKey first = queue.waiting.firstEntry().getValue();
        lookedFor = first;
        if (first.ticket().demand() instanceof Demand.Exclusive) {
            ask(deadline -> lookForAnyone(first, deadline), this::looked);
        } else {
            ask(deadline -> lookForWhoMustLeave(first, deadline), this::looked);
        }
    }

    /** Everybody ahead must leave before it is this one's turn: there is no need to read who they are. */
    private Look lookForAnyone(TicketKey first, Deadline deadline) {
        RangeResponse answer =
                queue.client.range(Txns.upTo(queue.start, first.revision(), LockWaiters.NEAR + 1), deadline);
        Optional<Ahead> found = answer.getKvsCount() <= LockWaiters.NEAR
                ? Optional.empty()
                : Optional.of(new Ahead(answer.getKvs(LockWaiters.NEAR), true));
        return new Look(found, answer.getHeader().getRevision());
    }

    private Look lookForWhoMustLeave(TicketKey first, Deadline deadline) {
        QueueView listing = QueueView.read(queue.client, queue.start, deadline);
        return new Look(listing.farAhead(LockWaiters.NEAR, first.revision()), listing.revision());
    }

    private List<Runnable> looked(Look look) {
        if (queue.waiting.isEmpty()) {
            return List.of();
        }
        if (!servesFirst()) {
            askAgain();
            return List.of();
        }
        if (look.ahead().isEmpty()) {
            // If it is gone, the view will tell.
            queue.seeNear();
            return List.of();
        }
        KeyValue found = look.ahead().get().key();
        boolean watched = ahead != null && ahead.key().getCreateRevision() == found.getCreateRevision();
        ahead = look.ahead().get();
        revision = look.revision();
        if (!watched) {
            watch(found.getKey(), ByteString.EMPTY);
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
        if (isCurrent() && !queue.waiting.isEmpty()) {
            askAgain();
        }
    }

    @Override
    List<Runnable> joined(TicketKey key) {
        lookIfFirstChanged();
        return List.of();
    }

    @Override
    void left() {
        if (queue.waiting.isEmpty()) {
            // While nobody waits nobody looks, whatever the watch tells.
            lookedFor = null;
        } else {
            lookIfFirstChanged();
        }
    }

    /** If a look is under way, its answer finds that out. */
    private void lookIfFirstChanged() {
        if (!isAsking() && !servesFirst()) {
            askAgain();
        }
    }

    /**
     * Whether the last look holds for the ticket that is now the first: it was for that one, or for one ahead of it that asked for the
     * same. Whoever had to leave before that one must leave before this one too.
     */
    private boolean servesFirst() {
        TicketKey first = queue.waiting.firstEntry().getValue();
        return lookedFor != null
                && lookedFor.revision() <= first.revision()
                && lookedFor.ticket().demand().equals(first.ticket().demand());
    }

    @Override
    Optional<KeyValue> reliesOn() {
        return Optional.ofNullable(ahead).map(Ahead::key);
    }

    @Override
    boolean covers(TicketKey waiter) {
        return ahead != null
                && servesFirst()
                && (ahead.mustLeave() || queue.waiting.firstEntry().getValue() != waiter);
    }
}
