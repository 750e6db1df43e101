package io.holdfast.zookeeper;

import io.holdfast.LockView;
import io.holdfast.LockView.Holder;
import io.holdfast.LockView.Waiter;
import io.holdfast.spi.Deadline;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;

/** Shows lines to people: who they are is in the data of their nodes. */
final class LineViews {

    /** The part of a token that a local handoff may add. */
    private static final int LOCAL_TOKENS = 1024;

    private final Settings settings;

    LineViews(Settings settings) {
        this.settings = settings;
    }

    LockView view(Session session, String lock, Deadline deadline) {
        try {
            session.wire().sync(settings.directory(lock));
            return view(session, lock, session.wire().children(settings.directory(lock), null), deadline);
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.refused(lock, settings, e);
        }
    }

    List<LockView> views(Session session, String prefix, Deadline deadline) {
        try {
            String root = settings.root().isEmpty() ? "/" : settings.root();
            session.wire().sync(root);
            Map<String, CompletableFuture<List<String>>> listings = new LinkedHashMap<>();
            for (String directory : Wire.await(session.wire().children(root, null), deadline)) {
                Optional<String> lock = NodeNames.lock(directory).filter(name -> name.startsWith(prefix));
                lock.ifPresent(name -> listings.put(name, session.wire().children(settings.directory(name), null)));
            }
            List<LockView> views = new ArrayList<>();
            for (Map.Entry<String, CompletableFuture<List<String>>> listing : listings.entrySet()) {
                LockView view = view(session, listing.getKey(), listing.getValue(), deadline);
                if (view.isHeld() || !view.waiters().isEmpty()) {
                    views.add(view);
                }
            }
            views.sort(Comparator.comparing(LockView::name));
            return views;
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.refused(prefix, settings, e);
        }
    }

    private LockView view(Session session, String lock, CompletableFuture<List<String>> listing, Deadline deadline)
            throws KeeperException {
        Line line;
        try {
            line = Line.of(Wire.await(listing, deadline));
        } catch (KeeperException.NoNodeException e) {
            return LockView.free(lock);
        }
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
                Wire.Data known = Wire.await(data.get(i), deadline);
                Optional<NodeData> words = NodeData.parse(known.bytes());
                Optional<Instant> since =
                        Optional.of(Instant.ofEpochMilli(known.stat().getCtime()));
                if (i < holding) {
                    holders.add(new Holder(
                            words.map(NodeData::origin),
                            member.demand(),
                            known.stat().getCzxid() * LOCAL_TOKENS,
                            since,
                            words.map(NodeData::ttl).filter(ttl -> ttl.compareTo(Duration.ZERO) > 0)));
                } else {
                    waiters.add(new Waiter(words.map(NodeData::origin), member.demand(), since));
                }
            } catch (KeeperException.NoNodeException e) {
                // It left since the listing.
            } catch (KeeperException.NoAuthException e) {
                // Somebody else's, and all we may know is that it is there.
                if (i < holding) {
                    holders.add(new Holder(Optional.empty(), member.demand(), 0, Optional.empty(), Optional.empty()));
                } else {
                    waiters.add(new Waiter(Optional.empty(), member.demand(), Optional.empty()));
                }
            }
        }
        return new LockView(lock, holders, waiters);
    }
}
