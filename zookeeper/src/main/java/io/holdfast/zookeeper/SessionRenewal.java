package io.holdfast.zookeeper;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** Renews what lives by one session with one write, and a first look at nodes that nobody has looked at yet. */
final class SessionRenewal {

    private final Session session;
    private final List<Place> places;
    private @Nullable CompletableFuture<Void> sent;

    private SessionRenewal(Session session, List<Place> places) {
        this.session = session;
        this.places = places;
    }

    /** Tells the ticket of every place. */
    static void renew(List<Place> places, Deadline deadline) {
        Map<Session, List<Place>> bySession = places.stream().collect(Collectors.groupingBy(Place::session));
        // All are sent before any is waited for, and sessions without a connection come last: one whose server hangs must
        // not cost the others their time.
        List<SessionRenewal> connected = new ArrayList<>();
        List<SessionRenewal> others = new ArrayList<>();
        bySession.forEach((session, itsPlaces) -> {
            SessionRenewal renewal = new SessionRenewal(session, itsPlaces);
            if (session.isConnected()) {
                renewal.sent = renewal.send();
                connected.add(renewal);
            } else {
                others.add(renewal);
            }
        });
        connected.forEach(renewal -> renewal.await(deadline));
        others.forEach(renewal -> renewal.await(deadline));
    }

    /** Answers come in order: once the write is answered, so are the looks before it. */
    private CompletableFuture<Void> send() {
        places.forEach(Place::lookAgain);
        places.forEach(Place::watchOwnNode);
        return session.prove();
    }

    /** Asks again on a new connection if need be. */
    private void await(Deadline deadline) {
        String lock = places.get(0).lock();
        while (true) {
            try {
                CompletableFuture<Void> answer = sent;
                if (answer == null) {
                    session.awaitReady(lock, deadline);
                    answer = send();
                }
                Wire.await(answer, deadline);
                places.forEach(Place::renewed);
                return;
            } catch (SessionOverException e) {
                places.forEach(place -> place.ticket().gone(LossReason.GONE, e.getMessage()));
                return;
            } catch (KeeperException e) {
                session.failed(e);
                if (!Place.mayAskAgain(e, deadline)) {
                    fail(Failures.refused(lock, session.settings(), e));
                    return;
                }
                sent = null;
            } catch (StoreUnavailableException e) {
                fail(e);
                return;
            }
        }
    }

    private void fail(LockException cause) {
        places.forEach(place -> place.ticket().failing(cause));
    }
}
