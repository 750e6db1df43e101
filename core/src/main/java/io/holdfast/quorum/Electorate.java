package io.holdfast.quorum;

import io.holdfast.StoreUnavailableException;
import io.holdfast.quorum.Ballot.Vote;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The nodes of a quorum: asks them at once, each for as long as one may take, and tells what they said. Thread-safe. */
final class Electorate {

    private static final System.Logger LOG = System.getLogger(Electorate.class.getName());

    private static final Duration LEAST_NODE_TIMEOUT = Duration.ofMillis(20);
    private static final int TTL_PER_NODE_TIMEOUT = 200;

    /** Nobody waits for it, but others stand behind it. */
    private static final Duration PURSUIT_TIMEOUT = Duration.ofMillis(500);

    private final List<QuorumNode> nodes;
    private final int majority;
    private final Optional<Duration> nodeTimeout;
    private final StoreContext context;

    Electorate(List<QuorumNode> nodes, Optional<Duration> nodeTimeout, StoreContext context) {
        this.nodes = nodes;
        this.majority = majorityOf(nodes.size());
        this.nodeTimeout = nodeTimeout;
        this.context = context;
    }

    static int majorityOf(int nodes) {
        return nodes / 2 + 1;
    }

    List<QuorumNode> nodes() {
        return nodes;
    }

    int size() {
        return nodes.size();
    }

    int majority() {
        return majority;
    }

    /** So many nodes against leave no majority in favour. */
    boolean isBlocking(long against) {
        return against > nodes.size() - majority;
    }

    /** Asks all nodes at once and waits for all, no longer than the deadline. */
    <T> List<Vote<T>> ask(Deadline nodeDeadline, Function<QuorumNode, T> question) {
        return poll(question).await(nodeDeadline, all -> false);
    }

    /** Asks all nodes at once; who wants the votes awaits the ballot. */
    <T> Ballot<T> poll(Function<QuorumNode, T> question) {
        Ballot<T> ballot = new Ballot<>(nodes.size());
        for (QuorumNode node : nodes) {
            node.run(() -> cast(ballot, node.number(), () -> question.apply(node)));
        }
        return ballot;
    }

    <T> List<Vote<T>> requireMajority(String name, List<Vote<T>> votes) {
        long answered = votes.stream().filter(vote -> vote.answer() != null).count();
        if (answered < majority) {
            throw new StoreUnavailableException(
                    name,
                    "only " + answered + " of " + nodes.size() + " nodes answered (" + said(votes, answer -> "answered")
                            + ")");
        }
        return votes;
    }

    static <T> void cast(Ballot<T> ballot, int number, Supplier<T> call) {
        try {
            ballot.cast(new Vote<>(number, call.get(), null));
        } catch (RuntimeException e) {
            ballot.cast(new Vote<>(number, null, e));
        }
    }

    Deadline nodeDeadline(Duration ttl, Deadline deadline) {
        return deadline.within(nodeTimeout(ttl));
    }

    Duration nodeTimeout(Duration ttl) {
        Duration share = ttl.dividedBy(TTL_PER_NODE_TIMEOUT);
        return nodeTimeout.orElse(share.compareTo(LEAST_NODE_TIMEOUT) < 0 ? LEAST_NODE_TIMEOUT : share);
    }

    /** Which node said what, for people. */
    <T> String said(List<Vote<T>> votes, Function<T, String> text) {
        Map<Integer, String> byNode = new HashMap<>();
        for (Vote<T> vote : votes) {
            T answer = vote.answer();
            byNode.put(vote.node(), answer != null ? text.apply(answer) : failureText(vote.failure()));
        }
        return nodes.stream()
                .map(node -> node.name() + ": " + byNode.getOrDefault(node.number(), "no answer in time"))
                .collect(Collectors.joining("; "));
    }

    /** The root of it: a node's own advice to try again is not for the user of a quorum. */
    private static String failureText(@Nullable RuntimeException failure) {
        Throwable cause = failure == null || failure.getCause() == null ? failure : failure.getCause();
        return cause == null || cause.getMessage() == null ? String.valueOf(cause) : cause.getMessage();
    }

    /** Withdraws a request from one node until it is gone for good, or the ttl has made it moot. */
    void pursue(QuorumNode node, Request request) {
        pursue(node, request, context.time().nanoTime() + request.ttl().toNanos());
    }

    private void pursue(QuorumNode node, Request request, long mootNanos) {
        node.runErrand(() -> {
            if (mootNanos - context.time().nanoTime() <= 0) {
                return;
            }
            try {
                Deadline deadline = Deadline.after(context.time(), PURSUIT_TIMEOUT);
                if (node.store().withdraw(request, deadline) == Withdrawal.REMOVED) {
                    return;
                }
            } catch (RuntimeException | Error e) {
                LOG.log(System.Logger.Level.DEBUG, "cannot undo a request yet", e);
            }
            long again = context.time().nanoTime() + request.ttl().toNanos() / 3;
            context.timer().at(again, () -> pursue(node, request, mootNanos));
        });
    }
}
