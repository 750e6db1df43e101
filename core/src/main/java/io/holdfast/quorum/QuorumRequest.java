package io.holdfast.quorum;

import io.holdfast.StoreUnavailableException;
import io.holdfast.quorum.NodeAnswers.NodeAnswer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** One try to get a majority for one ticket: {@link QuorumStore} tells how. Used once. */
final class QuorumRequest {

    /** A node that takes longer than this part of the node timeout is not waited for when the others have decided. */
    private static final int PROMPT_SHARE = 4;

    private final QuorumNodes nodes;
    private final TimeSource time;
    private final Ticket ticket;
    private final NodeTickets parts;
    private final Deadline deadline;

    QuorumRequest(QuorumNodes nodes, TimeSource time, Ticket ticket, Deadline deadline) {
        this.nodes = nodes;
        this.time = time;
        this.ticket = ticket;
        this.parts = new NodeTickets(ticket, nodes);
        this.deadline = deadline;
    }

    /** Empty and granted by a majority, or refused with nothing left behind. */
    Optional<Refusal> run() {
        long baseNanos = time.nanoTime();
        AnswerTime answerTime = answerTime();
        NodeAnswers<Optional<Refusal>> asked = nodes.askEach(node -> ask(node, answerTime.at(node)));
        asked.await(answerTime, this::isDecided);
        List<NodeAnswer<Optional<Refusal>>> answers = waitForPrompt(asked);
        if (granted(answers) >= nodes.majority() && settleToken(baseNanos)) {
            return Optional.empty();
        }
        giveUp(answers);
        return Optional.of(refusal(answers));
    }

    private AnswerTime answerTime() {
        return nodes.answerTime(ticket.ttl(), deadline);
    }

    private Optional<Refusal> ask(QuorumNode node, Deadline nodeDeadline) {
        Ticket part = parts.at(node).ticket();
        long startNanos = time.nanoTime();
        Optional<Refusal> refusal = node.store().request(part, Mode.TRY, nodeDeadline);
        long tookNanos = time.nanoTime() - startNanos;
        node.setPrompt(tookNanos < nodes.nodeTimeout(ticket.ttl()).toNanos() / PROMPT_SHARE);
        if (refusal.isPresent()) {
            part.end();
        }
        return refusal;
    }

    /** Failures alone decide nothing yet: nodes that have not answered yet show whether a rival holds it or the nodes are away. */
    private boolean isDecided(List<NodeAnswer<Optional<Refusal>>> answers) {
        return granted(answers) >= nodes.majority() || isRefused(answers);
    }

    private boolean isRefused(List<NodeAnswer<Optional<Refusal>>> answers) {
        return nodes.isBlocking(NodeAnswers.count(answers, Optional::isPresent));
    }

    private static long granted(List<NodeAnswer<Optional<Refusal>>> answers) {
        return NodeAnswers.count(answers, Optional::isEmpty);
    }

    /**
     * It is decided. The others are worth a moment unless they were slow before: a grant makes the lease more robust, or must
     * not be left behind by a try that failed.
     */
    private List<NodeAnswer<Optional<Refusal>>> waitForPrompt(NodeAnswers<Optional<Refusal>> asked) {
        Duration moment = nodes.nodeTimeout(ticket.ttl()).dividedBy(PROMPT_SHARE);
        List<NodeAnswer<Optional<Refusal>>> answers = asked.await(AnswerTime.until(deadline.within(moment)), so -> {
            Set<Integer> answered = so.stream().map(NodeAnswer::node).collect(Collectors.toSet());
            return nodes.all().stream().noneMatch(node -> node.isPrompt() && !answered.contains(node.number()));
        });
        Set<Integer> answered = answers.stream().map(NodeAnswer::node).collect(Collectors.toSet());
        boolean isMajority = NodeAnswers.count(answers, any -> true) >= nodes.majority();
        nodes.all().stream().filter(node -> !answered.contains(node.number())).forEach(node -> {
            node.setPrompt(false);
            if (!isMajority) {
                // It was waited for as long as can be.
                node.setAnswering(false);
            }
        });
        return answers;
    }

    /** The second round. False if a majority could not be brought to the agreed token in time. */
    private boolean settleToken(long baseNanos) {
        List<QuorumNode> holding = nodes.all().stream()
                .filter(node -> parts.at(node).ticket().state() == Ticket.State.HELD)
                .toList();
        if (holding.size() < nodes.majority()) {
            return false;
        }
        List<Ticket> held =
                holding.stream().map(node -> parts.at(node).ticket()).toList();
        long token = held.stream().mapToLong(Ticket::storeToken).max().orElseThrow();
        Duration ttl =
                held.stream().map(Ticket::givenTtl).min(Duration::compareTo).orElseThrow();
        AnswerTime answerTime = answerTime();
        NodeAnswers<Boolean> raised = nodes.askSome(holding, node -> {
            if (parts.at(node).ticket().storeToken() != token) {
                node.raising().raise(ticket.name(), token, answerTime.at(node));
            }
            return true;
        });
        List<NodeAnswer<Boolean>> agreed =
                raised.await(answerTime, so -> NodeAnswers.count(so, done -> done) >= nodes.majority());
        if (NodeAnswers.count(agreed, done -> done) < nodes.majority()) {
            return false;
        }
        ticket.granted(token, ttl, baseNanos);
        return true;
    }

    /** Nothing of a failed try may stay: it would keep others from their majority. */
    private void giveUp(List<NodeAnswer<Optional<Refusal>>> answers) {
        List<QuorumNode> held = new ArrayList<>();
        Map<Integer, NodeAnswer<Optional<Refusal>>> byNode =
                answers.stream().collect(Collectors.toMap(NodeAnswer::node, Function.identity()));
        for (QuorumNode node : nodes.all()) {
            NodeTickets.Part part = parts.at(node);
            Ticket.State before = part.ticket().end();
            NodeAnswer<Optional<Refusal>> answer = byNode.get(node.number());
            if (before == Ticket.State.HELD) {
                held.add(node);
            } else if (answer == null || answer.mayBeApplied()) {
                nodes.pursue(part);
            }
        }
        Deadline nodeDeadline = answerTime().usual();
        nodes.askSome(held, node -> {
                    NodeTickets.Part part = parts.at(node);
                    try {
                        node.store().withdraw(part.ticket(), nodeDeadline);
                    } catch (RuntimeException e) {
                        nodes.pursue(part);
                    }
                    return true;
                })
                .await(AnswerTime.until(nodeDeadline), all -> false);
    }

    private Refusal refusal(List<NodeAnswer<Optional<Refusal>>> answers) {
        String said = nodes.said(
                answers,
                refusal -> refusal.map(why -> "refused, " + why.reason()).orElse("granted"));
        long answered = NodeAnswers.count(answers, any -> true);
        if (answered < nodes.majority() && !isRefused(answers)) {
            StoreUnavailableException failure = new StoreUnavailableException(
                    ticket.name(),
                    "only " + answered + " of " + nodes.size() + " nodes answered in time, " + nodes.majority()
                            + " are needed (" + said + ")");
            answers.stream().map(NodeAnswer::failure).filter(Objects::nonNull).forEach(failure::addSuppressed);
            throw failure;
        }
        return new Refusal(granted(answers) + " of " + nodes.size() + " nodes granted it, " + nodes.majority()
                + " are needed (" + said + ")");
    }
}
