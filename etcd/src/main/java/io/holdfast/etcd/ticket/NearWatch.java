package io.holdfast.etcd.ticket;

import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.etcd.layout.Keys;
import io.holdfast.etcd.session.TicketKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The whole queue, exactly. */
final class NearWatch extends QueueWatch {

    private @Nullable QueueView view; // null until it is listed
    private boolean opened;
    private long near; // the first ticket that was found to be near, and stays so: nobody comes ahead of it
    private final List<Event> aside = new ArrayList<>();

    NearWatch(LockWaiters queue) {
        super(queue);
    }

    @Override
    void open() {
        watch(queue.start, Keys.endOf(queue.start));
    }

    @Override
    public void opened(long revision) {
        synchronized (queue) {
            if (isCurrent()) {
                opened = true;
                askAgain();
            }
        }
    }

    @Override
    void askAgain() {
        view = null;
        aside.clear();
        ask(deadline -> QueueView.read(queue.client, queue.start, deadline), this::listed);
    }

    private List<Runnable> listed(QueueView listing) {
        listing.apply(aside);
        aside.clear();
        List<Runnable> news = new ArrayList<>();
        queue.waiting.headMap(listing.revision(), true).values().removeIf(key -> {
            boolean gone = !listing.has(key.revision());
            if (gone) {
                news.add(key::reportGone);
            }
            return gone;
        });
        news.addAll(judge(listing));
        if (opened && isCurrent()) {
            view = listing;
        }
        return news;
    }

    @Override
    public void changed(List<Event> events) {
        List<Runnable> news = new ArrayList<>();
        synchronized (queue) {
            if (!isCurrent()) {
                return;
            }
            if (view == null) {
                aside.addAll(events);
                return;
            }
            for (long gone : view.apply(events)) {
                TicketKey mine = queue.waiting.remove(gone);
                if (mine != null) {
                    news.add(mine::reportGone);
                }
            }
            news.addAll(judge(view));
        }
        news.forEach(Runnable::run);
    }

    private List<Runnable> judge(QueueView now) {
        List<Runnable> news = new ArrayList<>();
        for (QueueView.Entry entry : now.admitted()) {
            TicketKey mine = queue.waiting.remove(entry.created());
            if (mine != null) {
                news.add(mine::reportGrant);
            }
        }
        if (queue.waiting.isEmpty()) {
            queue.closeIfIdleLater();
        } else if (now.size() > LockWaiters.NO_LONGER_NEAR && isFar(now)) {
            queue.seeFar();
        }
        return news;
    }

    private boolean isFar(QueueView now) {
        long first = queue.waiting.firstKey();
        if (first == near || first > now.revision()) {
            return false;
        }
        near = first;
        return now.farAhead(LockWaiters.NO_LONGER_NEAR, first).isPresent();
    }

    @Override
    List<Runnable> joined(TicketKey key) {
        if (view == null || key.revision() > view.revision()) {
            return List.of(); // the listing, or the event of its own creation, is still to come
        }
        if (!view.has(key.revision())) {
            queue.waiting.remove(key.revision());
            return List.of(key::reportGone);
        }
        return judge(view);
    }

    @Override
    Optional<QueueView> view() {
        return Optional.ofNullable(view);
    }

    @Override
    Optional<KeyValue> reliesOn() {
        return view().flatMap(QueueView::first).map(QueueView.Entry::key);
    }

    @Override
    boolean covers(TicketKey waiter) {
        return view != null && view.has(waiter.revision());
    }
}
