package io.holdfast.zookeeper.ticket;

import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.AsyncZooKeeper.Created;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.SessionOverException;
import io.holdfast.zookeeper.tree.LockQueue;
import io.holdfast.zookeeper.tree.LockTree;
import io.holdfast.zookeeper.tree.NodeData;
import io.holdfast.zookeeper.tree.NodeNames;
import io.holdfast.zookeeper.tree.QueuedNode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * A node made for one ticket in one session, or perhaps made: found again if the answer was lost, and deleted by its full name.
 *
 * <p>Thread-safe; made by one thread.
 */
final class EphemeralNode {

    /** A directory that cannot be made is found out after this many tries. */
    private static final int MOST_TRIES = 4;

    private final Session session;
    private final Ticket ticket;
    private final LockTree tree;
    private final Directories directories;
    private final String uuid;
    private final String directory;
    private final AtomicBoolean deleteSent = new AtomicBoolean();

    private volatile @Nullable Created created;
    private volatile boolean mayExist;

    EphemeralNode(Session session, Ticket ticket, LockTree tree, Directories directories) {
        this.session = session;
        this.ticket = ticket;
        this.tree = tree;
        this.directories = directories;
        this.uuid = NodeNames.uuid(ticket.owner());
        this.directory = tree.directory(ticket.name());
    }

    String directory() {
        return directory;
    }

    /** Whether a request was sent that makes the node, so that it must be looked for. */
    boolean mayExist() {
        return mayExist;
    }

    /** Empty as long as the answer to its creation is outstanding. */
    Optional<Created> created() {
        return Optional.ofNullable(created);
    }

    /** How many are ahead of it; empty if it is not there. */
    Optional<Integer> position(LockQueue queue) {
        return created().flatMap(known -> queue.position(known.path().substring(directory.length() + 1)));
    }

    /** Makes the node and shows the queue with it. Fails with what ZooKeeper says, or late with an unknown outcome. */
    LockQueue make(Deadline deadline) throws KeeperException, SessionOverException {
        int missing = 0;
        while (true) {
            session.awaitConnected(ticket.name(), deadline);
            try {
                if (mayExist && created == null) {
                    created = Answers.await(find(), deadline).orElse(null);
                    mayExist = created != null;
                }
                LockQueue queue = created == null ? create(deadline) : list(deadline);
                requireIn(queue);
                return queue;
            } catch (KeeperException e) {
                session.noteFailure(e);
                if (e.code() == Code.NONODE && created == null && ++missing < MOST_TRIES) {
                    directories.forget(directory);
                } else if (!Answers.mayAskAgain(e, deadline)) {
                    throw e;
                }
            }
        }
    }

    private LockQueue create(Deadline deadline) throws KeeperException {
        List<CompletableFuture<Created>> parents = directories.make(session, directory);
        mayExist = true;
        CompletableFuture<Created> creation = session.requests()
                .create(
                        directory + "/" + NodeNames.node(uuid, ticket.demand(), tree.layout()),
                        NodeData.of(ticket),
                        tree.acl(),
                        CreateMode.EPHEMERAL_SEQUENTIAL);
        CompletableFuture<List<String>> listing = session.requests().children(directory, null);
        try {
            created = Answers.await(creation, deadline);
        } catch (KeeperException e) {
            mayExist = Answers.isUnknown(e.code());
            throw Directories.reason(parents, e);
        }
        directories.remember(directory);
        return queue(Answers.await(listing, deadline));
    }

    private LockQueue list(Deadline deadline) throws KeeperException {
        return queue(Answers.await(session.requests().children(directory, null), deadline));
    }

    private LockQueue queue(List<String> names) {
        if (LockQueue.isTooLong(names)) {
            throw new UnsupportedLockException(
                    ticket.name(),
                    "more than " + LockQueue.LONGEST + " tickets queued for one lock would exceed what ZooKeeper lists "
                            + "in one answer; let threads of one client wait at its own gate (fairness BALANCED)");
        }
        return LockQueue.of(names);
    }

    private void requireIn(LockQueue queue) throws KeeperException {
        if (position(queue).isEmpty()) {
            // Somebody deleted it.
            created = null;
            mayExist = false;
            throw KeeperException.create(Code.NONODE, directory);
        }
        long czxid = created().orElseThrow().czxid();
        if (!Tokens.isStoreToken(czxid)) {
            throw new UnsupportedLockException(
                    ticket.name(),
                    "the ensemble's transaction number " + Long.toHexString(czxid)
                            + " no longer fits a fencing token of 53 bits: it has had more than 2^21 leaders");
        }
    }

    /** Whether there is a node although the answer to its creation was lost with its connection. */
    private CompletableFuture<Optional<Created>> find() {
        // The write comes first. What an earlier connection has sent is before it in the servers' log, so the listing
        // shows it; or it is refused, because the session has moved on.
        CompletableFuture<Void> barrier = session.prove();
        CompletableFuture<List<String>> listing =
                Answers.unlessMissing(session.requests().children(directory, null), List.of());
        return barrier.thenCombine(
                        listing, (proven, names) -> LockQueue.of(names).of(uuid))
                .thenCompose(candidates -> {
                    CompletableFuture<Optional<Created>> found = CompletableFuture.completedFuture(Optional.empty());
                    for (QueuedNode candidate : candidates) {
                        found = found.thenCombine(ifOurs(candidate), (one, other) -> one.or(() -> other));
                    }
                    return found;
                });
    }

    private CompletableFuture<Optional<Created>> ifOurs(QueuedNode candidate) {
        String path = directory + "/" + candidate.name();
        CompletableFuture<Optional<Created>> ours = session.requests()
                .data(path, null)
                .thenApply(data -> data.stat().getEphemeralOwner() == session.id()
                        ? Optional.of(new Created(path, data.stat().getCzxid()))
                        : Optional.empty());
        return Answers.unlessMissing(ours, Optional.empty());
    }

    /** Deletes whatever there is; completes with whether that, or an earlier deletion of ours, has removed something. */
    CompletableFuture<Boolean> delete() {
        Created known = created;
        return known != null
                ? delete(known)
                : find().thenCompose(found ->
                        found.map(this::delete).orElseGet(() -> CompletableFuture.completedFuture(false)));
    }

    private CompletableFuture<Boolean> delete(Created found) {
        // The answer to an earlier one may have been lost: if the node is gone now, that was us.
        boolean sentBefore = deleteSent.getAndSet(true);
        return session.requests().delete(found.path()).thenApply(existed -> existed || sentBefore);
    }
}
