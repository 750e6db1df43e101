package io.holdfast.quorum;

import io.holdfast.UnknownOutcomeException;
import io.holdfast.quorum.Ballot.Vote;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** One batch of renewals, put to all nodes at once. Used once. */
final class MajorityRenewal {

    private final Electorate electorate;
    private final LossTally losses;
    private final List<RenewalRequest> renewals;

    MajorityRenewal(Electorate electorate, LossTally losses, List<RenewalRequest> renewals) {
        this.electorate = electorate;
        this.losses = losses;
        this.renewals = renewals;
    }

    /** @param baseNanos a moment before this */
    List<RenewalAnswer> run(long baseNanos, Deadline deadline) {
        Duration shortest = renewals.stream()
                .map(RenewalRequest::ttl)
                .min(Duration::compareTo)
                .orElseThrow();
        Deadline nodeDeadline = electorate.nodeDeadline(shortest, deadline);
        List<Vote<List<Optional<RenewalAnswer>>>> votes =
                electorate.poll(node -> renewAt(node, nodeDeadline)).await(nodeDeadline, this::isSettled);
        List<RenewalAnswer> answers = new ArrayList<>(renewals.size());
        for (int i = 0; i < renewals.size(); i++) {
            answers.add(combine(renewals.get(i), i, votes, baseNanos));
        }
        return answers;
    }

    /** Per renewal what the node said, or empty if it has no part in that lease. */
    private List<Optional<RenewalAnswer>> renewAt(QuorumNode node, Deadline deadline) {
        List<RenewalRequest> own = new ArrayList<>();
        List<Integer> positions = new ArrayList<>();
        for (int i = 0; i < renewals.size(); i++) {
            Optional<Grant> grant =
                    NodeGrants.of((Grant) renewals.get(i).claim()).at(node.number());
            if (grant.isPresent()) {
                own.add(new RenewalRequest(grant.get(), renewals.get(i).ttl()));
                positions.add(i);
            }
        }
        List<Optional<RenewalAnswer>> answers =
                new ArrayList<>(Collections.nCopies(renewals.size(), Optional.<RenewalAnswer>empty()));
        if (!own.isEmpty()) {
            List<RenewalAnswer> given = node.store().renew(own, deadline);
            for (int i = 0; i < own.size(); i++) {
                answers.set(positions.get(i), Optional.of(given.get(i)));
                if (given.get(i) instanceof RenewalAnswer.Gone) {
                    NodeGrants.of((Grant) renewals.get(positions.get(i)).claim())
                            .remove(node.number());
                }
            }
        }
        return answers;
    }

    private boolean isSettled(List<Vote<List<Optional<RenewalAnswer>>>> votes) {
        for (int i = 0; i < renewals.size(); i++) {
            if (extended(votes, i).size() < electorate.majority()) {
                return false;
            }
        }
        return true;
    }

    private static List<RenewalAnswer.Extended> extended(List<Vote<List<Optional<RenewalAnswer>>>> votes, int i) {
        List<RenewalAnswer.Extended> extended = new ArrayList<>();
        for (Vote<List<Optional<RenewalAnswer>>> vote : votes) {
            List<Optional<RenewalAnswer>> answers = vote.answer();
            if (answers != null && answers.get(i).orElse(null) instanceof RenewalAnswer.Extended one) {
                extended.add(one);
            }
        }
        return extended;
    }

    private RenewalAnswer combine(
            RenewalRequest renewal, int i, List<Vote<List<Optional<RenewalAnswer>>>> votes, long baseNanos) {
        List<RenewalAnswer.Extended> extended = extended(votes, i);
        if (extended.size() >= electorate.majority()) {
            Duration ttl = extended.stream()
                    .map(RenewalAnswer.Extended::ttl)
                    .min(Duration::compareTo)
                    .orElseThrow();
            losses.renewed(renewal.claim().request());
            return new RenewalAnswer.Extended(baseNanos, ttl);
        }
        String said = electorate.said(
                votes,
                answers -> answers.get(i)
                        .map(answer -> answer instanceof RenewalAnswer.Extended ? "renewed" : answer.toString())
                        .orElse("has no part in it"));
        long gone = Ballot.count(
                votes,
                answers ->
                        answers.get(i).map(a -> a instanceof RenewalAnswer.Gone).orElse(true));
        if (electorate.isBlocking(gone)) {
            losses.forget(renewal.claim().request().owner());
            return new RenewalAnswer.Gone(
                    "fewer than " + electorate.majority() + " nodes still have it (" + said + ")");
        }
        return new RenewalAnswer.Unsettled(new UnknownOutcomeException(
                renewal.claim().request().name(),
                "fewer than " + electorate.majority() + " nodes renewed it in time (" + said + ")"));
    }
}
