package io.holdfast.quorum;

import io.holdfast.StoreUnavailableException;
import io.holdfast.quorum.Ballot.Vote;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.Request;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** One try to get a majority for one request: {@link QuorumStore} tells how. Used once. */
final class Candidacy {

    /** Who takes longer than this part of the node timeout is not waited for when the others have decided. */
    private static final int PROMPT_SHARE = 4;

    private final Electorate electorate;
    private final TimeSource time;
    private final Request request;
    private final Deadline deadline;
    private final NodeGrants grants = new NodeGrants();

    Candidacy(Electorate electorate, TimeSource time, Request request, Deadline deadline) {
        this.electorate = electorate;
        this.time = time;
        this.request = request;
        this.deadline = deadline;
    }

    /** Granted by a majority, or refused with nothing left behind. */
    Answer run() {
        long baseNanos = time.nanoTime();
        Deadline nodeDeadline = nodeDeadline();
        Ballot<Answer> ballot = electorate.poll(node -> askNode(node, nodeDeadline));
        ballot.await(nodeDeadline, this::isDecided);
        List<Vote<Answer>> votes = waitForPrompt(ballot);
        if (granted(votes) >= electorate.majority()) {
            Optional<Grant> grant = settleToken(votes, baseNanos);
            if (grant.isPresent()) {
                return new Answer.Granted(grant.get());
            }
        }
        giveUp(votes);
        return refusal(votes);
    }

    private Deadline nodeDeadline() {
        return electorate.nodeDeadline(request.ttl(), deadline);
    }

    private Answer askNode(QuorumNode node, Deadline nodeDeadline) {
        long startNanos = time.nanoTime();
        Answer answer = node.store().attempt(request, nodeDeadline);
        long tookNanos = time.nanoTime() - startNanos;
        node.setPrompt(tookNanos < electorate.nodeTimeout(request.ttl()).toNanos() / PROMPT_SHARE);
        if (answer instanceof Answer.Granted granted && !grants.add(node.number(), granted.grant())) {
            // Too late: the try is over.
            electorate.pursue(node, request);
        }
        return answer;
    }

    /** Failures alone decide nothing yet: whoever is still to answer shows whether it is a rival or an outage. */
    private boolean isDecided(List<Vote<Answer>> votes) {
        return granted(votes) >= electorate.majority() || isRefused(votes);
    }

    private boolean isRefused(List<Vote<Answer>> votes) {
        return electorate.isBlocking(Ballot.count(votes, answer -> answer instanceof Answer.Refused));
    }

    private static long granted(List<Vote<Answer>> votes) {
        return Ballot.count(votes, answer -> answer instanceof Answer.Granted);
    }

    /**
     * It is decided. The others are worth a moment unless they were slow before: a grant makes the lease more robust, or must
     * not be left behind by a try that failed.
     */
    private List<Vote<Answer>> waitForPrompt(Ballot<Answer> ballot) {
        Duration moment = electorate.nodeTimeout(request.ttl()).dividedBy(PROMPT_SHARE);
        List<Vote<Answer>> votes = ballot.await(deadline.within(moment), so -> {
            Set<Integer> voted = so.stream().map(Vote::node).collect(Collectors.toSet());
            return electorate.nodes().stream().noneMatch(node -> node.isPrompt() && !voted.contains(node.number()));
        });
        Set<Integer> voted = votes.stream().map(Vote::node).collect(Collectors.toSet());
        electorate.nodes().stream()
                .filter(node -> !voted.contains(node.number()))
                .forEach(node -> node.setPrompt(false));
        return votes;
    }

    /** The second round. Empty if a majority could not be brought to the agreed token in time. */
    private Optional<Grant> settleToken(List<Vote<Answer>> votes, long baseNanos) {
        Map<Integer, Grant> given = new HashMap<>();
        for (Vote<Answer> vote : votes) {
            if (vote.answer() instanceof Answer.Granted granted) {
                given.put(vote.node(), granted.grant());
            }
        }
        long token = given.values().stream().mapToLong(Grant::token).max().orElseThrow();
        Duration ttl =
                given.values().stream().map(Grant::ttl).min(Duration::compareTo).orElseThrow();
        Deadline nodeDeadline = nodeDeadline();
        Ballot<Boolean> ballot = new Ballot<>(given.size());
        int ballotNumber = 0;
        for (Map.Entry<Integer, Grant> entry : given.entrySet()) {
            QuorumNode node = electorate.nodes().get(entry.getKey());
            int number = ballotNumber++;
            if (entry.getValue().token() == token) {
                ballot.cast(new Vote<>(number, true, null));
            } else {
                node.run(() -> Electorate.cast(ballot, number, () -> {
                    node.raising().raise(request.name(), token, nodeDeadline);
                    return true;
                }));
            }
        }
        List<Vote<Boolean>> raised =
                ballot.await(nodeDeadline, so -> Ballot.count(so, done -> done) >= electorate.majority());
        return Ballot.count(raised, done -> done) >= electorate.majority()
                ? Optional.of(new Grant(request, token, ttl, baseNanos, grants))
                : Optional.empty();
    }

    /** Nothing of a failed try may stay: it would keep others from their majority. */
    private void giveUp(List<Vote<Answer>> votes) {
        grants.end();
        Map<Integer, Vote<Answer>> byNode = votes.stream().collect(Collectors.toMap(Vote::node, Function.identity()));
        Deadline nodeDeadline = nodeDeadline();
        List<QuorumNode> held = new ArrayList<>();
        for (QuorumNode node : electorate.nodes()) {
            Vote<Answer> vote = byNode.get(node.number());
            if (vote == null || vote.mayBeApplied()) {
                electorate.pursue(node, request);
            } else if (vote.answer() instanceof Answer.Granted) {
                held.add(node);
            }
        }
        Ballot<Boolean> ballot = new Ballot<>(held.size());
        for (int i = 0; i < held.size(); i++) {
            QuorumNode node = held.get(i);
            int number = i;
            node.run(() -> Electorate.cast(ballot, number, () -> {
                try {
                    node.store().withdraw(request, nodeDeadline);
                } catch (RuntimeException e) {
                    electorate.pursue(node, request);
                }
                return true;
            }));
        }
        ballot.await(nodeDeadline, all -> false);
    }

    private Answer refusal(List<Vote<Answer>> votes) {
        String said = electorate.said(
                votes, answer -> answer instanceof Answer.Refused refused ? "refused, " + refused.reason() : "granted");
        long answered = votes.stream().filter(vote -> vote.answer() != null).count();
        if (answered < electorate.majority() && !isRefused(votes)) {
            StoreUnavailableException failure = new StoreUnavailableException(
                    request.name(),
                    "only " + answered + " of " + electorate.size() + " nodes answered in time, "
                            + electorate.majority() + " are needed (" + said + ")");
            votes.stream().map(Vote::failure).filter(Objects::nonNull).forEach(failure::addSuppressed);
            throw failure;
        }
        return new Answer.Refused(granted(votes) + " of " + electorate.size() + " nodes granted it, "
                + electorate.majority() + " are needed (" + said + ")");
    }
}
