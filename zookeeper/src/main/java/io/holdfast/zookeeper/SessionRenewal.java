package io.holdfast.zookeeper;

import io.holdfast.LockException;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.Grant;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Ticket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** Renews what lives by sessions: one write per session, and a first look at nodes that nobody has looked at yet. */
final class SessionRenewal {

    private final Settings settings;

    SessionRenewal(Settings settings) {
        this.settings = settings;
    }

    List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
        Map<Session, List<Place>> bySession = new LinkedHashMap<>();
        for (RenewalRequest renewal : renewals) {
            Place place = place(renewal.claim());
            bySession
                    .computeIfAbsent(place.session(), session -> new ArrayList<>())
                    .add(place);
        }
        // All are sent before any is waited for: a session whose server hangs must not cost the others their time.
        Map<Session, CompletableFuture<Void>> sent = new LinkedHashMap<>();
        bySession.forEach((session, places) -> {
            if (session.isConnected()) {
                sent.put(session, send(session, places));
            }
        });
        Map<Session, @Nullable LockException> failures = new LinkedHashMap<>();
        sent.forEach((session, answer) -> failures.put(session, await(session, bySession, answer, deadline)));
        bySession.keySet().stream()
                .filter(session -> !sent.containsKey(session))
                .forEach(session -> failures.put(session, await(session, bySession, null, deadline)));
        List<RenewalAnswer> answers = new ArrayList<>(renewals.size());
        for (RenewalRequest renewal : renewals) {
            Session session = place(renewal.claim()).session();
            answers.add(answer(renewal, failures.get(session)));
        }
        return answers;
    }

    /** Answers come in order: once the write is answered, so are the looks before it. */
    private static CompletableFuture<Void> send(Session session, List<Place> places) {
        places.forEach(Place::watchOwnNode);
        return session.prove();
    }

    /** Asks again on a new connection if need be. Returns what went wrong, or null; an ended session tells its places. */
    private @Nullable LockException await(
            Session session,
            Map<Session, List<Place>> bySession,
            @Nullable CompletableFuture<Void> sent,
            Deadline deadline) {
        List<Place> places = bySession.getOrDefault(session, List.of());
        String lock = places.get(0).lock();
        CompletableFuture<Void> answer = sent;
        while (true) {
            try {
                if (answer == null) {
                    session.awaitReady(lock, deadline);
                    answer = send(session, places);
                }
                Wire.await(answer, deadline);
                return null;
            } catch (SessionOverException e) {
                return null;
            } catch (KeeperException e) {
                session.failed(e);
                if (e.code() != Code.SESSIONEXPIRED && (!Wire.isUnknown(e.code()) || deadline.hasPassed())) {
                    return Failures.refused(lock, settings, e);
                }
                answer = null;
            } catch (StoreUnavailableException e) {
                return e;
            }
        }
    }

    private RenewalAnswer answer(RenewalRequest renewal, @Nullable LockException failure) {
        Place place = place(renewal.claim());
        String ended = place.endReason();
        if (ended != null) {
            return new RenewalAnswer.Gone(ended);
        }
        if (failure != null) {
            return new RenewalAnswer.Unsettled(failure);
        }
        Session session = place.session();
        if (renewal.ttl().compareTo(session.longestAsked()) > 0) {
            return new RenewalAnswer.Unsettled(new UnsupportedLockException(
                    place.lock(),
                    "its ttl is the timeout of its ZooKeeper session, " + DurationText.of(session.ttl())
                            + ", and cannot grow; ask for the lock with a longer ttl"));
        }
        place.kept();
        return new RenewalAnswer.Extended(session.baseNanos(), session.ttl());
    }

    private static Place place(Claim claim) {
        Object handle = claim instanceof Grant grant ? grant.handle() : ((Ticket) claim).handle();
        if (handle instanceof Place place) {
            return place;
        }
        throw new IllegalArgumentException("not a claim of this store: " + claim);
    }
}
