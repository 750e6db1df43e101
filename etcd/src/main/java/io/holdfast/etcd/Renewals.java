package io.holdfast.etcd;

import com.google.protobuf.ByteString;
import io.holdfast.StoreUnavailableException;
import io.holdfast.etcd.internal.wire.KeyValue;
import io.holdfast.spi.Claim;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Ticket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Renews a batch of claims: per session one keep-alive and one read of all their keys. */
final class Renewals {

    private final Sessions sessions;
    private final Moves moves;

    Renewals(Sessions sessions, Moves moves) {
        this.sessions = sessions;
        this.moves = moves;
    }

    List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
        List<@Nullable RenewalAnswer> answers = new ArrayList<>(Collections.nCopies(renewals.size(), null));
        Map<Session, List<Integer>> bySession = new LinkedHashMap<>();
        for (int i = 0; i < renewals.size(); i++) {
            Place place = placeOf(renewals.get(i).claim());
            if (place == null || place.hasEnded()) {
                answers.set(i, new RenewalAnswer.Gone("its key in etcd is gone or going"));
            } else {
                bySession
                        .computeIfAbsent(place.session(), session -> new ArrayList<>())
                        .add(i);
            }
        }
        bySession.forEach((session, batch) -> renew(session, batch, renewals, answers, deadline));
        List<RenewalAnswer> complete = new ArrayList<>(answers.size());
        for (RenewalAnswer answer : answers) {
            complete.add(Objects.requireNonNull(answer));
        }
        return complete;
    }

    private void renew(
            Session session,
            List<Integer> batch,
            List<RenewalRequest> renewals,
            List<@Nullable RenewalAnswer> answers,
            Deadline deadline) {
        List<ByteString> wanted = new ArrayList<>();
        for (int i : batch) {
            Place place = placeOf(renewals.get(i).claim());
            if (place != null) {
                wanted.add(place.key());
                Wait wait = place.waiting();
                if (wait != null && place.state() == Place.State.WAITING) {
                    wanted.add(wait.nearest());
                }
            }
        }
        Pulse.@Nullable Finding finding = null;
        @Nullable RpcFailure failure = null;
        try {
            finding = sessions.extend(session, wanted, deadline);
        } catch (RpcFailure e) {
            failure = e;
        }
        for (int i : batch) {
            RenewalRequest renewal = renewals.get(i);
            Place place = placeOf(renewal.claim());
            if (place == null) {
                continue;
            }
            RenewalAnswer answer;
            try {
                answer = finding == null ? unsettled(place, failure) : judge(place, session, finding, deadline);
                if (answer instanceof RenewalAnswer.Extended
                        && renewal.claim() instanceof Grant
                        && renewal.ttl().compareTo(session.ttl()) > 0) {
                    answer = moves.toOwnLease(place, renewal.ttl(), deadline);
                }
            } catch (RpcFailure e) {
                answer = unsettled(place, e);
            }
            answers.set(i, answer);
        }
    }

    private RenewalAnswer judge(Place place, Session session, Pulse.Finding finding, Deadline deadline) {
        Optional<KeyValue> key = finding.key(place.key());
        if (key.isEmpty()) {
            place.end();
            sessions.forget(place);
            return new RenewalAnswer.Gone("its key in etcd is gone: its lease ended, or somebody deleted it");
        }
        long lease = key.get().getLease();
        Session next = place.next();
        if (next != null && lease == next.lease()) {
            // A move whose answer has not come had been made.
            sessions.move(place, next);
        }
        if (place.session() != session) {
            // The next renewal extends the right lease.
            return new RenewalAnswer.Unsettled(
                    new StoreUnavailableException(place.request().name(), "its key has just moved to another lease"));
        }
        if (lease != session.lease()) {
            place.end();
            sessions.forget(place);
            return new RenewalAnswer.Gone("somebody bound its key in etcd to another lease");
        }
        if (finding.verdict() != Pulse.Verdict.EXTENDED) {
            return new RenewalAnswer.Unsettled(new StoreUnavailableException(
                    place.request().name(), "etcd is changing its leader, so the renewal proves nothing"));
        }
        place.changedAt(key.get().getModRevision());
        if (next != null) {
            moves.preclude(place, deadline);
        }
        Wait wait = place.waiting();
        if (wait != null
                && place.state() == Place.State.WAITING
                && finding.key(wait.nearest()).isEmpty()) {
            wait.look();
        }
        return place.keep(finding.baseNanos(), session.ttl())
                ? new RenewalAnswer.Extended(finding.baseNanos(), session.ttl())
                : new RenewalAnswer.Gone("it ran out before the answer came");
    }

    private static RenewalAnswer unsettled(Place place, @Nullable RpcFailure failure) {
        String name = place.request().name();
        return new RenewalAnswer.Unsettled(
                failure == null ? new StoreUnavailableException(name, "no answer") : failure.about(name));
    }

    private static @Nullable Place placeOf(Claim claim) {
        Object handle = claim instanceof Grant grant ? grant.handle() : ((Ticket) claim).handle();
        return handle instanceof Place place ? place : null;
    }
}
