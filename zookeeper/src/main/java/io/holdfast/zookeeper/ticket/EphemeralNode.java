package io.holdfast.zookeeper.ticket;

import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.AsyncZooKeeper.Children;
import io.holdfast.zookeeper.session.AsyncZooKeeper.Created;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.SessionOverException;
import io.holdfast.zookeeper.tree.LockTree;
import io.holdfast.zookeeper.tree.NodeData;
import io.holdfast.zookeeper.tree.NodeNames;
import io.holdfast.zookeeper.tree.QueueView;
import io.holdfast.zookeeper.tree.QueuedNode;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
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

    /** A request waits for the next connection, or the next failure to get one: up to a second. */
    private static final int MOST_CONNECTIONS = 60;

    private final Session session;
    private final Ticket ticket;
    private final LockTree tree;
    private final Directories directories;
    private final LastTurns turns;
    private final String uuid;
    private final String directory;

    private volatile @Nullable Created created;
    /** Of the last one created: kept when that is gone, for those who have just looked. */
    private volatile @Nullable QueuedNode queued;

    private volatile boolean mayExist;
    private @Nullable CompletableFuture<Boolean> deletion; // the last one; guarded by this

    EphemeralNode(Session session, Ticket ticket, LockTree tree, Directories directories, LastTurns turns) {
        this.session = session;
        this.ticket = ticket;
        this.tree = tree;
        this.directories = directories;
        this.turns = turns;
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

    /** As others see it in the queue. To be asked only once it was created. */
    QueuedNode queued() {
        return Objects.requireNonNull(queued);
    }

    /**
     * How a node was found when it was made.
     *
     * @param listing shows it, unless there was a view that knows it
     */
    record Joined(boolean admitted, Optional<QueueView> listing) {}

    /** Makes the node. Fails with what ZooKeeper says, or late with an unknown outcome. */
    Joined make(SessionTickets tickets, Deadline deadline) throws KeeperException, SessionOverException {
        int missing = 0;
        while (true) {
            session.awaitConnected(ticket.name(), deadline);
            try {
                if (mayExist && created == null) {
                    Answers.await(find(), deadline).ifPresent(this::noteCreated);
                    mayExist = created != null;
                }
                Joined joined = created == null ? create(tickets, deadline) : joined(list(), deadline);
                requireToken(created().orElseThrow().czxid());
                if (queued().isNumberedForItself()) {
                    return joined;
                }
                beginNumbersAnew(deadline);
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

    private Joined create(SessionTickets tickets, Deadline deadline) throws KeeperException {
        List<CompletableFuture<Created>> parents = directories.make(session, directory);
        Optional<LockWaiters> view = tickets.view(directory);
        boolean known = view.filter(LockWaiters::expectCreation).isPresent() || turns.isNextExpected(directory);
        mayExist = true;
        CompletableFuture<Created> creation = session.requests()
                .create(
                        directory + "/" + NodeNames.node(uuid, ticket.demand(), tree.layout()),
                        NodeData.of(ticket),
                        tree.acl(),
                        CreateMode.EPHEMERAL_SEQUENTIAL);
        // Back to back with the creation it costs no time, but the servers some work.
        Optional<CompletableFuture<Children>> listing = known ? Optional.empty() : Optional.of(list());
        creation.whenComplete((made, failure) -> {
            if (session.goesOnWithoutUs()) {
                settle();
            }
        });
        // Answers come in order: who waits for the last one is woken once.
        listing.ifPresent(last -> Answers.awaitAnswered(last, deadline));
        Created node;
        try {
            node = Answers.await(creation, deadline);
            noteCreated(node);
        } catch (KeeperException e) {
            mayExist = Answers.isUnknown(e.code());
            throw Directories.reason(parents, e);
        }
        directories.remember(directory);
        if (turns.isNext(directory, node)) {
            turns.begun(directory, node);
            return new Joined(true, Optional.empty());
        }
        Optional<Boolean> admitted = view.flatMap(queue -> queue.admits(queued()));
        return admitted.isPresent()
                ? new Joined(admitted.get(), Optional.empty())
                : joined(listing.orElseGet(this::list), deadline);
    }

    /** Removes the directory, and its counter with it. Fails if others are queued there: they have to leave first. */
    private void beginNumbersAnew(Deadline deadline) throws KeeperException {
        Answers.await(delete(), deadline);
        forgetCreation();
        Answers.await(session.requests().delete(directory), deadline);
        directories.forget(directory);
    }

    private void noteCreated(Created node) {
        queued = QueuedNode.ours(node.path().substring(directory.length() + 1));
        created = node;
    }

    private synchronized void forgetCreation() {
        created = null;
        mayExist = false;
        deletion = null;
    }

    private CompletableFuture<Children> list() {
        return session.requests().children(directory, null);
    }

    private Joined joined(CompletableFuture<Children> listing, Deadline deadline) throws KeeperException {
        QueueView queue = QueueView.of(Answers.await(listing, deadline).names());
        if (!queue.contains(queued())) {
            // Somebody deleted it.
            forgetCreation();
            throw KeeperException.create(Code.NONODE, directory);
        }
        if (queue.isFirst(queued())) {
            turns.begun(directory, created().orElseThrow());
        } else {
            turns.disturbed(directory);
        }
        if (queue.isTooLong()) {
            throw new UnsupportedLockException(
                    ticket.name(),
                    "more than " + QueueView.LONGEST + " tickets queued for one lock would exceed what ZooKeeper lists "
                            + "in one answer; let threads of one client wait at its own gate (fairness BALANCED)");
        }
        return new Joined(queue.admits(queued()), Optional.of(queue));
    }

    private void requireToken(long czxid) {
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
        return barrier.thenCombine(
                        list(),
                        (proven, children) -> QueueView.of(children.names()).of(uuid))
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

    /**
     * Deletes whatever there is; completes with whether that, or an earlier deletion of ours, has removed something. All who
     * want it gone share one deletion, and its answer: a release may meet the sweep.
     */
    synchronized CompletableFuture<Boolean> delete() {
        CompletableFuture<Boolean> before = deletion;
        Created known = created;
        if (before != null && !before.isCompletedExceptionally() && (known != null || !before.isDone())) {
            return before;
        }
        CompletableFuture<Boolean> next = known != null
                // Should it be gone now, the deletion whose answer was lost has removed it.
                ? delete(known).thenApply(existed -> existed || before != null)
                : find().thenCompose(found ->
                        found.map(this::delete).orElseGet(() -> CompletableFuture.completedFuture(false)));
        deletion = next;
        return next;
    }

    /** As {@link #delete}, over several connections if need be, for a session that goes on without us. */
    CompletableFuture<Boolean> settle() {
        return settle(MOST_CONNECTIONS);
    }

    private CompletableFuture<Boolean> settle(int tries) {
        return delete().exceptionallyCompose(failure -> tries > 1 && Answers.isUnknown(Answers.code(failure))
                ? settle(tries - 1)
                : CompletableFuture.failedFuture(failure));
    }

    private CompletableFuture<Boolean> delete(Created found) {
        return session.requests().delete(found.path()).whenComplete((existed, failure) -> {
            if (failure == null) {
                turns.over(directory, found);
            }
        });
    }
}
