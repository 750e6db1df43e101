package io.holdfast.zookeeper;

import io.holdfast.LockView;
import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Waiter;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Page;
import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.AsyncZooKeeper.Children;
import io.holdfast.zookeeper.session.AsyncZooKeeper.Data;
import io.holdfast.zookeeper.session.Failures;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.tree.LockTree;
import io.holdfast.zookeeper.tree.NodeData;
import io.holdfast.zookeeper.tree.NodeNames;
import io.holdfast.zookeeper.tree.QueueView;
import io.holdfast.zookeeper.tree.QueuedNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;

/** Shows queues to people: who they are is in the data of their nodes. */
final class LockViews {

    private final LockTree tree;

    LockViews(LockTree tree) {
        this.tree = tree;
    }

    LockView view(Session session, String lock, Deadline deadline) {
        try {
            session.requests().sync(tree.directory(lock));
            return view(session, lock, list(session, lock), deadline);
        } catch (KeeperException e) {
            session.noteFailure(e);
            throw Failures.refused(lock, session.ensemble(), e);
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
            session.noteFailure(e);
            throw Failures.ofWholeStore(session.ensemble(), e);
        }
    }

    private List<String> names(Session session, String prefix, String after, Deadline deadline) throws KeeperException {
        session.requests().sync(tree.top());
        CompletableFuture<Children> directories = session.requests().children(tree.top(), null);
        return Answers.await(directories, deadline).names().stream()
                .flatMap(directory -> NodeNames.lock(directory).stream())
                .filter(lock -> lock.startsWith(prefix) && lock.compareTo(after) > 0)
                .sorted()
                .toList();
    }

    private void addInUse(Session session, List<String> locks, List<LockView> views, Deadline deadline)
            throws KeeperException {
        List<CompletableFuture<Children>> listings =
                locks.stream().map(lock -> list(session, lock)).toList();
        for (int i = 0; i < locks.size(); i++) {
            LockView view = view(session, locks.get(i), listings.get(i), deadline);
            if (view.isHeld() || !view.waiters().isEmpty()) {
                views.add(view);
            }
        }
    }

    private CompletableFuture<Children> list(Session session, String lock) {
        return session.requests().children(tree.directory(lock), null);
    }

    private LockView view(Session session, String lock, CompletableFuture<Children> listing, Deadline deadline)
            throws KeeperException {
        QueueView queue = QueueView.of(Answers.await(listing, deadline).names());
        List<QueuedNode> nodes = queue.nodes();
        String directory = tree.directory(lock);
        List<CompletableFuture<Data>> data = nodes.stream()
                .map(node -> session.requests().data(directory + "/" + node.name(), null))
                .toList();
        int holding = queue.holders().size();
        List<Holder> holders = new ArrayList<>();
        List<Waiter> waiters = new ArrayList<>();
        for (int i = 0; i < data.size(); i++) {
            QueuedNode node = nodes.get(i);
            try {
                Known known = Known.of(Answers.await(data.get(i), deadline));
                if (i < holding) {
                    holders.add(known.holder(node));
                } else {
                    waiters.add(known.waiter(node));
                }
            } catch (KeeperException.NoNodeException e) {
                // It left since the listing.
            } catch (KeeperException.NoAuthException e) {
                // Somebody else's, and all we may know is that it is there.
                if (i < holding) {
                    holders.add(Known.NOTHING.holder(node));
                } else {
                    waiters.add(Known.NOTHING.waiter(node));
                }
            }
        }
        return new LockView(lock, holders, waiters);
    }

    /** What a node tells; empty, as far as it is not ours. */
    private record Known(Optional<NodeData> words, Optional<Long> czxid, Optional<Instant> since) {

        static final Known NOTHING = new Known(Optional.empty(), Optional.empty(), Optional.empty());

        static Known of(Data data) {
            Optional<NodeData> words = NodeData.parse(data.bytes());
            return new Known(
                    words,
                    words.map(ours -> data.stat().getCzxid()),
                    Optional.of(Instant.ofEpochMilli(data.stat().getCtime())));
        }

        Holder holder(QueuedNode node) {
            Optional<Duration> ttl = words.map(NodeData::ttl).filter(known -> known.compareTo(Duration.ZERO) > 0);
            return new Holder(words.map(NodeData::origin), node.demand(), czxid, since, ttl);
        }

        Waiter waiter(QueuedNode node) {
            return new Waiter(words.map(NodeData::origin), node.demand(), since);
        }
    }
}
