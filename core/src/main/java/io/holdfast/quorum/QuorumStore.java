package io.holdfast.quorum;

import io.holdfast.LockView;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.Waiting;
import io.holdfast.quorum.NodeAnswers.NodeAnswer;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;

/**
 * A lock that counts as held while a majority of independent stores hold it: the Redlock algorithm, with fencing tokens.
 *
 * <p>Exclusive and shared demands; waiting is polling. Thread-safe. See {@code docs/stores/redlock.md} for what clock jumps,
 * forgetful restarts and changed node lists break.
 */
public final class QuorumStore implements TokenRaisingStore, AdministeredStore {

    /*
     * The algorithm, and what would break it.
     *
     * Acquire. The base of the lease is taken before anything is sent. All nodes are asked at once; a majority of grants is wanted. Then the token is settled: the largest the majority gave is written back
     * (raise) to every node of it, and the grant counts only once a majority's counters have reached it. Any later majority
     * shares a node with this one, and that node's next token is larger: so is the maximum. Without the second round it would
     * not be: nodes 1-3 might give {5, 5, 9}, and the next majority, nodes 1, 2, 4, {6, 6, 6}.
     *
     * A try that fails is withdrawn everywhere, also from nodes that did not answer: their request may still be under way. The
     * grants of a failed try are what keeps the others from a majority, so they are waited for; nodes that hang are pursued in
     * the background until they confirm, or the ttl has made it moot.
     *
     * How long. A node that hangs must not cost the caller much, so those that have not answered within the node timeout are left
     * behind, once a majority has answered. Without a majority of answers nothing is won by giving up: the try fails, and on a
     * busy host, which needs longer than that to load classes and to be woken, so does the next. So a majority is waited for as
     * long as the lease bears it. Nodes that do not answer even then get the node timeout until they answer again: a client
     * that is cut off must not keep the minority it reaches from others.
     *
     * Late answers. When a majority is there, the rest is waited for only a moment, and not at all if it was slow the last
     * time. A grant that comes later joins the lease, if that still lives; else it is withdrawn at once.
     *
     * Renewal needs a majority of nodes that extended it, each by the base before its own request: the lease reaches as far as a majority of
     * its nodes do, whichever renewal they confirmed. Of a large batch nodes may confirm some in time and never answer for the
     * whole: those some are renewed. (All of them counted as not renewed, at every try, until all were lost.) But what was
     * confirmed late, of an earlier renewal, is no answer to this one, which may have asked for more. A node that lost the lock is
     * never asked to take it again: between its loss and that moment another majority may have had it.
     *
     * Release goes to all nodes. If fewer than a majority answer, the engine asks again; who has said before that it released is
     * not asked, and who says that it does not have it, after a release of ours that it did not answer, did that release. Else those
     * would be counted against the release, and the nodes that never heard of it would not be asked any more: with a shortest hold
     * the lock would be free when it expires there.
     *
     * Close. What nodes have not settled by then is tried once more.
     *
     * Losses. One node whose administrator took the lock is no loss while a majority keeps it; losses are counted per node.
     */

    private static final int VIEWS_PER_PAGE = 500;
    private static final Duration LOOK_TIMEOUT = Duration.ofSeconds(2);
    /** 50 to 250 ms, at random: rivals who split the vote must not meet again. */
    private static final Waiting.Poll RETRY =
            Waiting.poll().every(Duration.ofMillis(150)).withJitter(0.66);

    private final QuorumNodes nodes;
    private final StoreContext context;
    private final StoreTraits traits;

    private QuorumStore(List<QuorumNode> nodes, Optional<Duration> nodeTimeout, StoreContext context) {
        this.nodes = new QuorumNodes(nodes, nodeTimeout, context);
        this.context = context;
        this.traits = traits(nodes);
    }

    /** A majority of these, each a {@link TokenRaisingStore} independent of the others. At least three. */
    public static Factory of(StoreFactory... stores) {
        return of(List.of(stores));
    }

    /** A majority of these, each a {@link TokenRaisingStore} independent of the others. At least three. */
    public static Factory of(List<StoreFactory> stores) {
        if (stores.size() < 3) {
            throw new IllegalArgumentException(
                    "a quorum needs at least three stores, not " + stores.size() + ": with fewer none may fail");
        }
        return new Factory(List.copyOf(stores), Optional.empty());
    }

    /** Opens quorum stores. Immutable. */
    public static final class Factory implements StoreFactory {

        private final List<StoreFactory> stores;
        private final Optional<Duration> nodeTimeout;

        private Factory(List<StoreFactory> stores, Optional<Duration> nodeTimeout) {
            this.stores = stores;
            this.nodeTimeout = nodeTimeout;
        }

        /** How long one node may take to answer. Default a 200th of the ttl, at least 20 ms; keep it far below the ttl. */
        public Factory withNodeTimeout(Duration timeout) {
            if (timeout.isNegative() || timeout.isZero()) {
                throw new IllegalArgumentException(
                        "the node timeout must be positive, not " + DurationText.of(timeout));
            }
            return new Factory(stores, Optional.of(timeout));
        }

        @Override
        public LockStore open(StoreContext context) {
            List<QuorumNode> nodes = new ArrayList<>();
            for (int i = 0; i < stores.size(); i++) {
                LockStore store = stores.get(i).open(context);
                if (!(store instanceof TokenRaisingStore)) {
                    store.close();
                    nodes.forEach(QuorumNode::close);
                    throw new IllegalArgumentException(
                            store.traits().store() + " cannot be in a quorum: its tokens cannot be raised");
                }
                nodes.add(new QuorumNode(i, store, context.clientName()));
            }
            return new QuorumStore(List.copyOf(nodes), nodeTimeout, context);
        }
    }

    private static StoreTraits traits(List<QuorumNode> nodes) {
        List<StoreTraits> all =
                nodes.stream().map(node -> node.store().traits()).toList();
        String names = all.stream().map(StoreTraits::store).collect(Collectors.joining(", "));
        StoreTraits traits = StoreTraits.of("quorum of " + names)
                .withoutQueue()
                .withDemands(all.stream().allMatch(StoreTraits::shared), false)
                .withTtls(
                        all.stream()
                                .map(StoreTraits::minTtl)
                                .max(Duration::compareTo)
                                .orElseThrow(),
                        all.stream()
                                .map(StoreTraits::maxTtl)
                                .min(Duration::compareTo)
                                .orElseThrow())
                .withMinMargin(all.stream()
                        .map(StoreTraits::minMargin)
                        .max(Duration::compareTo)
                        .orElseThrow())
                .withPoll(RETRY);
        return all.stream().allMatch(StoreTraits::lingers) ? traits : traits.withoutLinger();
    }

    @Override
    public StoreTraits traits() {
        return traits;
    }

    @Override
    public Optional<Refusal> request(Ticket ticket, Mode mode, Deadline deadline) {
        if (!traits.supports(ticket.demand())) {
            throw new UnsupportedLockException(ticket.name(), "majorities do not add up for " + ticket.demand());
        }
        return new QuorumRequest(nodes, context.time(), ticket, deadline).run();
    }

    @Override
    public void renew(List<Ticket> tickets, Deadline deadline) {
        if (!tickets.isEmpty()) {
            new QuorumRenewal(nodes, context.time(), tickets, Ticket::ttl, LockStore::renew).run(deadline);
        }
    }

    @Override
    public void extend(Ticket ticket, Duration ttl, Deadline deadline) {
        NodeTickets.of(ticket, nodes).beginExtension(ttl);
        new QuorumRenewal(
                        nodes,
                        context.time(),
                        List.of(ticket),
                        any -> ttl,
                        (node, parts, nodeDeadline) -> parts.forEach(part -> node.extend(part, ttl, nodeDeadline)))
                .run(deadline);
    }

    @Override
    public ReleaseAnswer release(Ticket ticket, Duration linger, Deadline deadline) {
        NodeTickets parts = NodeTickets.of(ticket, nodes);
        parts.end();
        AnswerTime time = nodes.answerTime(ticket.ttl(), deadline);
        int majority = nodes.majority();
        List<NodeAnswer<ReleaseAnswer>> answers = nodes.askEach(
                        node -> releaseAt(node, parts.at(node), linger, time.at(node)))
                .await(time, so -> NodeAnswers.count(so, answer -> answer == ReleaseAnswer.RELEASED) >= majority);
        if (NodeAnswers.count(answers, answer -> answer == ReleaseAnswer.RELEASED) >= majority) {
            parts.tellReleased();
            return ReleaseAnswer.RELEASED;
        }
        if (nodes.isBlocking(NodeAnswers.count(answers, answer -> answer == ReleaseAnswer.NOT_HELD))) {
            return ReleaseAnswer.NOT_HELD;
        }
        throw new UnknownOutcomeException(
                ticket.name(),
                "fewer than " + majority + " nodes released it (" + nodes.said(answers, Enum::name) + ")");
    }

    /** Also at a node that never said it granted: it may have. Where a lock is to linger, only those count where it does. */
    private ReleaseAnswer releaseAt(QuorumNode node, NodeTickets.Part part, Duration linger, Deadline deadline) {
        try {
            if (part.ticket().storeToken() != Tokens.NONE) {
                return part.release(() -> node.store().release(part.ticket(), linger, deadline));
            }
            Withdrawal withdrawal = node.store().withdraw(part.ticket(), deadline);
            return withdrawal == Withdrawal.REMOVED && linger.isZero()
                    ? ReleaseAnswer.RELEASED
                    : ReleaseAnswer.NOT_HELD;
        } catch (RuntimeException e) {
            if (linger.isZero()) {
                nodes.pursue(part);
            }
            // Else it stays until it expires or is released again: withdrawing it would end the linger too soon.
            throw e;
        }
    }

    @Override
    public Withdrawal withdraw(Ticket ticket, Deadline deadline) {
        NodeTickets parts = NodeTickets.of(ticket, nodes);
        parts.end();
        AnswerTime time = nodes.answerTime(ticket.ttl(), deadline);
        List<NodeAnswer<Withdrawal>> answers =
                nodes.ask(time, node -> node.store().withdraw(parts.at(node).ticket(), time.at(node)));
        if (NodeAnswers.failures(answers) > 0 || answers.size() < nodes.size()) {
            throw new UnknownOutcomeException(
                    ticket.name(), "not all nodes could be asked to undo it (" + nodes.said(answers, Enum::name) + ")");
        }
        // Where it was not found it may yet arrive, so looking again pays unless it was found everywhere.
        return NodeAnswers.count(answers, answer -> answer == Withdrawal.REMOVED) == nodes.size()
                ? Withdrawal.REMOVED
                : Withdrawal.NOT_FOUND;
    }

    @Override
    public LockView view(String name, Deadline deadline) {
        Deadline nodeDeadline = deadline.within(LOOK_TIMEOUT);
        List<LockView> views =
                nodes.askMajority(name, nodeDeadline, node -> node.store().view(name, nodeDeadline));
        return QuorumViews.combine(name, nodes.majority(), views);
    }

    /** Pages of the nodes do not match, so all of them are read and cut here. */
    @Override
    public Page views(String prefix, Optional<String> after, int limit, Deadline deadline) {
        Deadline nodeDeadline = deadline.within(LOOK_TIMEOUT);
        Map<String, List<LockView>> byName =
                nodes.askMajority(prefix, nodeDeadline, node -> allViews(node, prefix, nodeDeadline)).stream()
                        .flatMap(List::stream)
                        .filter(view -> after.map(last -> view.name().compareTo(last) > 0)
                                .orElse(true))
                        .collect(Collectors.groupingBy(LockView::name));
        List<LockView> locks = byName.entrySet().stream()
                .map(entry -> QuorumViews.combine(entry.getKey(), nodes.majority(), entry.getValue()))
                .filter(LockView::isHeld)
                .sorted(Comparator.comparing(LockView::name))
                .toList();
        return locks.size() <= limit
                ? new Page(locks, Optional.empty())
                : new Page(
                        locks.subList(0, limit),
                        Optional.of(locks.get(limit - 1).name()));
    }

    private static List<LockView> allViews(QuorumNode node, String prefix, Deadline deadline) {
        List<LockView> all = new ArrayList<>();
        Optional<String> next = Optional.empty();
        do {
            Page page = node.store().views(prefix, next, VIEWS_PER_PAGE, deadline);
            all.addAll(page.locks());
            next = page.next();
        } while (next.isPresent());
        return all;
    }

    @Override
    public void ping(Deadline deadline) {
        nodes.askMajority("*", deadline, node -> {
            node.store().ping(deadline);
            return true;
        });
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        Deadline nodeDeadline = deadline.within(LOOK_TIMEOUT);
        nodes.askMajority(name, nodeDeadline, node -> {
            node.raising().raise(name, floor, nodeDeadline);
            return true;
        });
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        Deadline nodeDeadline = deadline.within(LOOK_TIMEOUT);
        return most(name, nodeDeadline, store -> store.forceRelease(name, nodeDeadline));
    }

    /** A walk over all locks, so it has all of its time. */
    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return most("*", deadline, store -> store.prune(idleFor, deadline));
    }

    private int most(String name, Deadline deadline, ToIntFunction<AdministeredStore> administration) {
        for (QuorumNode node : nodes.all()) {
            if (!(node.store() instanceof AdministeredStore)) {
                throw new UnsupportedLockException(name, node.name() + " cannot be administered");
            }
        }
        return Collections.max(
                nodes.askMajority(name, deadline, node -> administration.applyAsInt((AdministeredStore) node.store())));
    }

    @Override
    public void close() {
        nodes.close();
    }
}
