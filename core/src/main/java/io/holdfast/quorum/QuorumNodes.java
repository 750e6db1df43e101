package io.holdfast.quorum;

import io.holdfast.StoreUnavailableException;
import io.holdfast.quorum.NodeAnswers.NodeAnswer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The nodes of a quorum: asks them at once, each for as long as one may take, and tells what they said. Thread-safe. */
final class QuorumNodes {

    private static final System.Logger LOG = System.getLogger(QuorumNodes.class.getName());

    private static final Duration LEAST_NODE_TIMEOUT = Duration.ofMillis(20);
    private static final int TTL_PER_NODE_TIMEOUT = 200;
    /** How much of a lease may be gone before a majority has granted it: as much as before its first renewal. */
    private static final int TTL_PER_MAJORITY_TIMEOUT = 3;

    /** For one try to remove what a node may have left: no caller waits for it, but others wait for the lock. */
    private static final Duration PURSUIT_TIMEOUT = Duration.ofMillis(500);

    /** For what is under way when the store is closed. */
    private static final Duration LAST_ANSWERS_TIMEOUT = Duration.ofMillis(500);

    private final List<QuorumNode> nodes;
    private final int majority;
    private final Optional<Duration> nodeTimeout;
    private final StoreContext context;
    private final Map<NodeTickets.Part, Pursuit> pursuits = new ConcurrentHashMap<>(); // the last one of each

    QuorumNodes(List<QuorumNode> nodes, Optional<Duration> nodeTimeout, StoreContext context) {
        this.nodes = nodes;
        this.majority = majorityOf(nodes.size());
        this.nodeTimeout = nodeTimeout;
        this.context = context;
    }

    static int majorityOf(int nodes) {
        return nodes / 2 + 1;
    }

    List<QuorumNode> all() {
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

    /** Asks all nodes at once and waits for all. */
    <T> List<NodeAnswer<T>> ask(AnswerTime time, Function<QuorumNode, T> question) {
        return askEach(question).await(time, all -> false);
    }

    /** Asks all nodes at once and does not wait for the answers. */
    <T> NodeAnswers<T> askEach(Function<QuorumNode, T> question) {
        return askSome(nodes, question);
    }

    /** As {@link #askEach}, for some of them. */
    <T> NodeAnswers<T> askSome(List<QuorumNode> some, Function<QuorumNode, T> question) {
        NodeAnswers<T> answers = new NodeAnswers<>(nodes.size(), some.size(), majority);
        for (QuorumNode node : some) {
            node.run(() -> answers.add(answer(node, question)));
        }
        return answers;
    }

    private static <T> NodeAnswer<T> answer(QuorumNode node, Function<QuorumNode, T> question) {
        try {
            T answer = question.apply(node);
            node.setAnswering(true);
            return new NodeAnswer<>(node.number(), answer, null);
        } catch (RuntimeException e) {
            node.setAnswering(false);
            return new NodeAnswer<>(node.number(), null, e);
        }
    }

    /** What those say that answer by the deadline; fails if they are fewer than a majority. */
    <T> List<T> askMajority(String name, Deadline deadline, Function<QuorumNode, T> question) {
        List<NodeAnswer<T>> all = ask(AnswerTime.until(deadline), question);
        List<T> answers =
                all.stream().map(NodeAnswer::answer).filter(Objects::nonNull).toList();
        if (answers.size() < majority) {
            throw new StoreUnavailableException(
                    name,
                    "only " + answers.size() + " of " + nodes.size() + " nodes answered ("
                            + said(all, answer -> "answered") + ")");
        }
        return answers;
    }

    AnswerTime answerTime(Duration ttl, Deadline deadline) {
        Duration usual = nodeTimeout(ttl);
        return new AnswerTime(
                deadline.within(usual), deadline.within(longer(usual, ttl.dividedBy(TTL_PER_MAJORITY_TIMEOUT))));
    }

    Duration nodeTimeout(Duration ttl) {
        return nodeTimeout.orElseGet(() -> longer(ttl.dividedBy(TTL_PER_NODE_TIMEOUT), LEAST_NODE_TIMEOUT));
    }

    private static Duration longer(Duration a, Duration b) {
        return a.compareTo(b) < 0 ? b : a;
    }

    /** Which node said what, for people. */
    <T> String said(List<NodeAnswer<T>> answers, Function<T, String> text) {
        Map<Integer, String> byNode = new HashMap<>();
        for (NodeAnswer<T> given : answers) {
            T answer = given.answer();
            byNode.put(given.node(), answer != null ? text.apply(answer) : failureText(given.failure()));
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

    /**
     * Withdraws a ticket from one node until it is gone for good, or the longest ttl asked for has made it moot. Takes over from an earlier
     * pursuit, of which there may be one for each time the engine has tried to release it.
     */
    void pursue(NodeTickets.Part part) {
        part.ticket().end();
        Pursuit pursuit =
                new Pursuit(part, context.time().nanoTime() + part.longestTtl().toNanos());
        pursuits.put(part, pursuit);
        part.node().runCleanup(pursuit);
    }

    /** A ticket that is given up and that one node may still have. */
    private final class Pursuit implements Runnable {

        private final NodeTickets.Part part;
        private final long mootNanos;

        Pursuit(NodeTickets.Part part, long mootNanos) {
            this.part = part;
            this.mootNanos = mootNanos;
        }

        @Override
        public void run() {
            if (pursuits.get(part) != this) {
                return;
            }
            if (mootNanos - context.time().nanoTime() <= 0 || withdraw()) {
                pursuits.remove(part, this);
                return;
            }
            long again = context.time().nanoTime() + part.ticket().ttl().toNanos() / 3;
            context.timer().at(again, () -> part.node().runCleanup(this));
        }

        /** One try. Whether nothing of it is left, or will be: what was granted and is not found does not come back. */
        private boolean withdraw() {
            try {
                // A grant that comes while this is under way may come after it at the node.
                boolean wasGranted = part.ticket().storeToken() != Tokens.NONE;
                Deadline deadline = Deadline.after(context.time(), PURSUIT_TIMEOUT);
                return part.node().store().withdraw(part.ticket(), deadline) == Withdrawal.REMOVED || wasGranted;
            } catch (RuntimeException | Error e) {
                LOG.log(System.Logger.Level.DEBUG, "cannot withdraw a ticket yet", e);
                return false;
            }
        }
    }

    /** First what is under way, which may still be granted; then what is left of it; all nodes at once, none for long. */
    void close() {
        Deadline answers = Deadline.after(TimeSource.system(), LAST_ANSWERS_TIMEOUT);
        nodes.forEach(QuorumNode::stopAsking);
        nodes.forEach(node -> node.awaitAnswers(answers));
        pursuits.forEach((part, pursuit) -> part.node().runCleanup(pursuit));
        Deadline lastTries = Deadline.after(TimeSource.system(), PURSUIT_TIMEOUT);
        nodes.forEach(QuorumNode::stopCleanup);
        nodes.forEach(node -> node.awaitCleanup(lastTries));
        nodes.forEach(QuorumNode::close);
    }
}
