package io.holdfast.quorum;

import io.holdfast.LossReason;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.quorum.NodeAnswers.NodeAnswer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Ticket.Extent;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** One batch of renewals, put to all nodes at once. Used once. */
final class QuorumRenewal {

    /** What became of a ticket at one node. */
    private enum Said {
        RENEWED("renewed"),
        FAILED("could not renew it"),
        NOT_HELD("does not have it");

        private final String text;

        Said(String text) {
            this.text = text;
        }
    }

    /** How the tickets of one node are renewed. */
    interface AtNode {
        void renew(LockStore node, List<Ticket> parts, Deadline deadline);
    }

    private final QuorumNodes nodes;
    private final List<Ticket> tickets;
    private final Function<Ticket, Duration> ttl;
    private final AtNode way;
    private final long startNanos;

    QuorumRenewal(
            QuorumNodes nodes, TimeSource time, List<Ticket> tickets, Function<Ticket, Duration> ttl, AtNode way) {
        this.nodes = nodes;
        this.tickets = tickets;
        this.ttl = ttl;
        this.way = way;
        this.startNanos = time.nanoTime();
    }

    void run(Deadline deadline) {
        Duration shortest =
                tickets.stream().map(Ticket::ttl).min(Duration::compareTo).orElseThrow();
        AnswerTime time = nodes.answerTime(shortest, deadline);
        tickets.forEach(ticket -> NodeTickets.of(ticket, nodes).beginRenewal());
        List<NodeAnswer<Map<OwnerId, Said>>> answers =
                nodes.askEach(node -> renewAt(node, time.at(node))).await(time, this::isSettled);
        tickets.forEach(ticket -> report(ticket, answers));
    }

    private Map<OwnerId, Said> renewAt(QuorumNode node, Deadline deadline) {
        List<Ticket> held = new ArrayList<>();
        for (Ticket ticket : tickets) {
            NodeTickets.Part part = NodeTickets.of(ticket, nodes).at(node);
            if (part.ticket().state() == Ticket.State.HELD) {
                held.add(part.ticket());
            }
        }
        if (!held.isEmpty()) {
            way.renew(node.store(), held, deadline);
        }
        Map<OwnerId, Said> said = new HashMap<>();
        for (Ticket ticket : tickets) {
            NodeTickets.Part part = NodeTickets.of(ticket, nodes).at(node);
            boolean has = part.ticket().state() == Ticket.State.HELD;
            Said kept = part.failure().isPresent() ? Said.FAILED : Said.RENEWED;
            said.put(ticket.owner(), has ? kept : Said.NOT_HELD);
        }
        return said;
    }

    private boolean isSettled(List<NodeAnswer<Map<OwnerId, Said>>> answers) {
        return tickets.stream().allMatch(ticket -> count(answers, ticket, Said.RENEWED) >= nodes.majority());
    }

    /** The deadline is the latest that a majority of the nodes reach, each by its own last request. */
    private void report(Ticket ticket, List<NodeAnswer<Map<OwnerId, Said>>> answers) {
        NodeTickets parts = NodeTickets.of(ticket, nodes);
        Optional<Extent> vouched = parts.vouchedFor();
        boolean isRenewed = count(answers, ticket, Said.RENEWED) >= nodes.majority()
                || (parts.confirmed() >= nodes.majority()
                        && vouched.filter(extent -> isAsAsked(ticket, extent)).isPresent());
        vouched.filter(extent -> isRenewed || extent.endNanos() - ticket.endNanos() > 0)
                .ifPresent(extent -> ticket.extended(extent.givenTtl(), extent.baseNanos()));
        if (!isRenewed) {
            reportNotRenewed(ticket, answers);
        }
    }

    /** Whether it reaches as far as this renewal was to bring it: what was confirmed just now may be an earlier one. */
    private boolean isAsAsked(Ticket ticket, Extent vouched) {
        long laterNanos = vouched.baseNanos() - startNanos;
        return vouched.givenTtl().plusNanos(laterNanos).compareTo(ttl.apply(ticket)) >= 0;
    }

    private void reportNotRenewed(Ticket ticket, List<NodeAnswer<Map<OwnerId, Said>>> answers) {
        String said = nodes.said(answers, node -> node.getOrDefault(ticket.owner(), Said.NOT_HELD).text);
        if (nodes.isBlocking(count(answers, ticket, Said.NOT_HELD))) {
            ticket.gone(LossReason.GONE, "fewer than " + nodes.majority() + " nodes still have it (" + said + ")");
        } else {
            ticket.failing(new UnknownOutcomeException(
                    ticket.name(), "fewer than " + nodes.majority() + " nodes renewed it in time (" + said + ")"));
        }
    }

    private static long count(List<NodeAnswer<Map<OwnerId, Said>>> answers, Ticket ticket, Said wanted) {
        return NodeAnswers.count(answers, node -> node.get(ticket.owner()) == wanted);
    }
}
