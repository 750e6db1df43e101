package io.holdfast.zookeeper;

import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.TicketListener;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each lock's line as nodes in ZooKeeper's tree. The protocol is told in {@link Place}, what a lease is counted from
 * in {@link Touches}. Thread-safe.
 */
final class ZooKeeperStore implements QueueingStore, AdministeredStore {

    private static final int MOST_REMEMBERED = 1_000;

    /** The timeout of a session that only looks: in the middle of what servers allow by default. */
    private static final int LOOKING_TICKS = 10;

    private final Settings settings;
    private final StoreTraits traits;
    private final Sessions sessions;
    private final Directories directories = new Directories();
    private final LineViews views;
    /** Locks found taken by the last try: the next one looks before it makes a node. */
    private final Set<String> lastSeenTaken = ConcurrentHashMap.newKeySet();

    ZooKeeperStore(Settings settings, StoreTraits traits, StoreContext context) {
        this.settings = settings;
        this.traits = traits;
        this.sessions = new Sessions(settings, context);
        this.views = new LineViews(settings);
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    /**
     * A free lock takes one round trip: the node is made at once, and removed if it is not the first. A lock seen taken is
     * looked at before, so that those who try again and again cost the servers a read each, not two writes.
     */
    @Override
    public Answer attempt(Request request, Deadline deadline) {
        String lock = request.name();
        if (lastSeenTaken.contains(lock) && !looksFree(request, deadline)) {
            return new Answer.Refused("others are in line");
        }
        Place place = join(request, null, deadline);
        try {
            if (place.holdOrEnd()) {
                lastSeenTaken.remove(lock);
                return new Answer.Granted(place.grant());
            }
        } catch (SessionOverException e) {
            giveUp(place);
            throw new StoreUnavailableException(lock, e.getMessage(), e);
        }
        if (lastSeenTaken.size() >= MOST_REMEMBERED) {
            lastSeenTaken.clear();
        }
        lastSeenTaken.add(lock);
        remove(place, deadline);
        return new Answer.Refused(place.ahead() + " in line before it");
    }

    @Override
    public Answer enqueue(Request request, TicketListener listener, Deadline deadline) {
        while (true) {
            Place place = join(request, listener, deadline);
            try {
                return place.holdOrWait();
            } catch (SessionOverException e) {
                giveUp(place);
                if (deadline.hasPassed()) {
                    throw new StoreUnavailableException(request.name(), e.getMessage(), e);
                }
            }
        }
    }

    /** One write per session keeps all that lives by it. */
    @Override
    public List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
        return new SessionRenewal(settings).renew(renewals, deadline);
    }

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        Place place = placeOf(grant.handle());
        boolean held = place.end("it was released");
        if (!held && place.session().find(place.owner()) == null) {
            return ReleaseAnswer.NOT_HELD;
        }
        return remove(place, deadline) ? ReleaseAnswer.RELEASED : ReleaseAnswer.NOT_HELD;
    }

    @Override
    public Withdrawal withdraw(Request request, Deadline deadline) {
        Place place = sessions.find(request.owner());
        if (place != null) {
            place.end("it was withdrawn");
            return remove(place, deadline) ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
        }
        return removeUnknown(request, deadline) ? Withdrawal.REMOVED : Withdrawal.NOT_FOUND;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        return views.view(ready(name, deadline), name, deadline);
    }

    @Override
    public List<LockView> views(String prefix, Deadline deadline) {
        return views.views(ready(prefix, deadline), prefix, deadline);
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        Session session = ready(name, deadline);
        String directory = settings.directory(name);
        try {
            session.wire().sync(directory);
            Line line = Line.of(Wire.await(session.wire().children(directory, null), deadline));
            List<CompletableFuture<Boolean>> deletions = line.members().subList(0, line.holders()).stream()
                    .map(holder -> session.delete(directory + "/" + holder.node()))
                    .toList();
            int released = 0;
            for (CompletableFuture<Boolean> deletion : deletions) {
                released += Wire.await(deletion, deadline) ? 1 : 0;
            }
            return released;
        } catch (KeeperException.NoNodeException e) {
            return 0;
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.of(name, settings, e);
        }
    }

    /** There is nothing to remove: tokens are transaction numbers, and empty directories are removed by the servers. */
    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return 0;
    }

    @Override
    public void close() {
        sessions.close();
    }

    /** Joins the line, in a new session if the present one ends, until the deadline. */
    private Place join(Request request, @Nullable TicketListener listener, Deadline deadline) {
        while (true) {
            Session session = sessions.of(request.name(), request.ttl());
            try {
                session.awaitReady(request.name(), deadline);
                return join(session, request, listener, deadline);
            } catch (SessionOverException e) {
                if (!e.mayTryAnother() || deadline.hasPassed()) {
                    throw e.about(request.name());
                }
            } finally {
                session.unreserve();
            }
        }
    }

    private Place join(Session session, Request request, @Nullable TicketListener listener, Deadline deadline)
            throws SessionOverException {
        Place place = new Place(session, request, listener, directories);
        session.register(place);
        boolean joined = false;
        try {
            place.join(deadline);
            joined = true;
            return place;
        } catch (KeeperException e) {
            throw place.mayExist()
                    ? Failures.of(request.name(), settings, e)
                    : Failures.refused(request.name(), settings, e);
        } finally {
            if (!joined) {
                giveUp(place);
            }
        }
    }

    private static void giveUp(Place place) {
        place.end("it could not join the line");
        if (place.mayExist()) {
            place.session().settleInBackground(place);
        } else {
            place.session().forget(place);
        }
    }

    /** Removes a place that has ended. False if its node was gone before, with its session or by somebody's hand. */
    private boolean remove(Place place, Deadline deadline) {
        Session session = place.session();
        // Whatever becomes of this, somebody sees to it until it is gone.
        session.orphan(place);
        while (true) {
            try {
                session.awaitReady(place.lock(), deadline);
                return Wire.await(session.settle(place), deadline) || place.wasDeletedByUs();
            } catch (SessionOverException e) {
                return false;
            } catch (KeeperException e) {
                session.failed(e);
                if (e.code() == Code.OPERATIONTIMEOUT) {
                    place.deletedByUs();
                }
                if (e.code() != Code.SESSIONEXPIRED && (!Wire.isUnknown(e.code()) || deadline.hasPassed())) {
                    throw Failures.of(place.lock(), settings, e);
                }
            }
        }
    }

    /** Looks for the node of a request this store knows nothing of. */
    private boolean removeUnknown(Request request, Deadline deadline) {
        Session session = ready(request.name(), deadline);
        String directory = settings.directory(request.name());
        try {
            CompletableFuture<Void> barrier = session.prove();
            CompletableFuture<List<String>> listing = session.wire().children(directory, null);
            Wire.await(barrier, deadline);
            boolean removed = false;
            for (Member node : Line.of(Wire.await(listing, deadline)).of(NodeNames.uuid(request.owner()))) {
                removed |= Wire.await(session.delete(directory + "/" + node.node()), deadline);
            }
            return removed;
        } catch (KeeperException.NoNodeException e) {
            return false;
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.of(request.name(), settings, e);
        }
    }

    private boolean looksFree(Request request, Deadline deadline) {
        Session session = ready(request.name(), deadline);
        try {
            session.wire().sync(settings.directory(request.name()));
            List<String> nodes =
                    Wire.await(session.wire().children(settings.directory(request.name()), null), deadline);
            return Line.of(nodes).wouldAdmit(request.demand());
        } catch (KeeperException.NoNodeException e) {
            return true;
        } catch (KeeperException e) {
            session.failed(e);
            throw Failures.refused(request.name(), settings, e);
        }
    }

    private Session ready(String lock, Deadline deadline) {
        while (true) {
            Session session = sessions.any(lock, settings.tick().multipliedBy(LOOKING_TICKS));
            try {
                session.awaitReady(lock, deadline);
                return session;
            } catch (SessionOverException e) {
                if (!e.mayTryAnother() || deadline.hasPassed()) {
                    throw e.about(lock);
                }
            }
        }
    }

    private static Place placeOf(@Nullable Object handle) {
        if (handle instanceof Place place) {
            return place;
        }
        throw new IllegalArgumentException("not a grant of this store: " + handle);
    }
}
