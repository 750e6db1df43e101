package io.holdfast.zookeeper;

import io.holdfast.LockView;
import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Waiter;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Page;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;

/** Shows lines to people: who they are is in the data of their nodes. */
final class LineViews {

    private final Settings settings;

    LineViews(Settings settings) {
        this.settings = settings;
    }

    LockView view(Session session, String lock, Deadline deadline) {
        try {
            session.wire().sync(settings.directory(lock));
            return view(session, lock, list(session, lock), deadline);
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.refused(lock, settings, e);
        }
    }

    /**
     * ZooKeeper lists directories all or none, so every page begins with that; what is in them is read for as many as the page
     * may have. Where the next page begins is said by the name of the last lock that was looked at.
     */
    Page views(Session session, String prefix, Optional<String> after, int limit, Deadline deadline) {
        try {
            List<String> names = names(session, prefix, after.orElse(""), deadline);
            List<LockView> views = new ArrayList<>();
            int looked = 0;
            while (views.size() < limit && looked < names.size()) {
                List<String> batch = names.subList(looked, Math.min(looked + limit - views.size(), names.size()));
                looked += batch.size();
                addInUse(session, batch, views, deadline);
            }
            return new Page(views, looked < names.size() ? Optional.of(names.get(looked - 1)) : Optional.empty());
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.refused(prefix, settings, e);
        }
    }

    private List<String> names(Session session, String prefix, String after, Deadline deadline) throws KeeperException {
        String root = settings.root().isEmpty() ? "/" : settings.root();
        session.wire().sync(root);
        CompletableFuture<List<String>> directories =
                Wire.unlessMissing(session.wire().children(root, null), List.of());
        return Wire.await(directories, deadline).stream()
                .flatMap(directory -> NodeNames.lock(directory).stream())
                .filter(lock -> lock.startsWith(prefix) && lock.compareTo(after) > 0)
                .sorted()
                .toList();
    }

    private void addInUse(Session session, List<String> locks, List<LockView> views, Deadline deadline)
            throws KeeperException {
        List<CompletableFuture<List<String>>> listings =
                locks.stream().map(lock -> list(session, lock)).toList();
        for (int i = 0; i < locks.size(); i++) {
            LockView view = view(session, locks.get(i), listings.get(i), deadline);
            if (view.isHeld() || !view.waiters().isEmpty()) {
                views.add(view);
            }
        }
    }

    private CompletableFuture<List<String>> list(Session session, String lock) {
        return Wire.unlessMissing(session.wire().children(settings.directory(lock), null), List.of());
    }

    private LockView view(Session session, String lock, CompletableFuture<List<String>> listing, Deadline deadline)
            throws KeeperException {
        Line line = Line.of(Wire.await(listing, deadline));
        String directory = settings.directory(lock);
        List<CompletableFuture<Wire.Data>> data = line.members().stream()
                .map(member -> session.wire().data(directory + "/" + member.node(), null))
                .toList();
        int holding = line.holders();
        List<Holder> holders = new ArrayList<>();
        List<Waiter> waiters = new ArrayList<>();
        for (int i = 0; i < data.size(); i++) {
            Member member = line.members().get(i);
            try {
                Known known = Known.of(Wire.await(data.get(i), deadline));
                if (i < holding) {
                    holders.add(known.holder(member));
                } else {
                    waiters.add(known.waiter(member));
                }
            } catch (KeeperException.NoNodeException e) {
                // It left since the listing.
            } catch (KeeperException.NoAuthException e) {
                // Somebody else's, and all we may know is that it is there.
                if (i < holding) {
                    holders.add(Known.NOTHING.holder(member));
                } else {
                    waiters.add(Known.NOTHING.waiter(member));
                }
            }
        }
        return new LockView(lock, holders, waiters);
    }

    /** What a node tells; empty, as far as it is not ours. */
    private record Known(Optional<NodeData> words, Optional<Long> czxid, Optional<Instant> since) {

        static final Known NOTHING = new Known(Optional.empty(), Optional.empty(), Optional.empty());

        static Known of(Wire.Data data) {
            Optional<NodeData> words = NodeData.parse(data.bytes());
            return new Known(
                    words,
                    words.map(ours -> data.stat().getCzxid()),
                    Optional.of(Instant.ofEpochMilli(data.stat().getCtime())));
        }

        Holder holder(Member member) {
            Optional<Duration> ttl = words.map(NodeData::ttl).filter(known -> known.compareTo(Duration.ZERO) > 0);
            return new Holder(words.map(NodeData::origin), member.demand(), czxid, since, ttl);
        }

        Waiter waiter(Member member) {
            return new Waiter(words.map(NodeData::origin), member.demand(), since);
        }
    }
}
