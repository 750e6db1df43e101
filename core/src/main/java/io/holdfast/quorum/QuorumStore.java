package io.holdfast.quorum;

import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.Waiting;
import io.holdfast.quorum.Ballot.Vote;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreTraits;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

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
     * Acquire. The base of the lease is taken before anything is sent. All nodes are asked at once, each for at most the node
     * timeout; a majority of grants is wanted. Then the token is settled: the largest the majority gave is written back
     * (raise) to every node of it, and the grant counts only once a majority's counters have reached it. Any later majority
     * shares a node with this one, and that node's next token is larger: so is the maximum. Without the second round it would
     * not be: nodes 1-3 might give {5, 5, 9}, and the next majority, nodes 1, 2, 4, {6, 6, 6}.
     *
     * A try that fails is withdrawn everywhere, also from nodes that did not answer: their request may still be under way. The
     * grants of a failed try are what keeps the others from a majority, so they are waited for; nodes that hang are pursued in
     * the background until they confirm, or the ttl has made it moot.
     *
     * Late answers. When a majority is there, the rest is waited for only a moment, and not at all if it was slow the last
     * time. A grant that comes later joins the lease, if that still lives; else it is withdrawn at once.
     *
     * Renewal needs a majority of nodes that extended it, by the base before the first request. A node that lost the lock is
     * never asked to take it again: between its loss and that moment another majority may have had it.
     *
     * Losses. One node whose administrator took the lock is no loss while a majority keeps it; losses are counted per node.
     */

    private static final System.Logger LOG = System.getLogger(QuorumStore.class.getName());

    private static final Duration LEAST_NODE_TIMEOUT = Duration.ofMillis(20);
    private static final int TTL_PER_NODE_TIMEOUT = 200;
    /** Who takes longer than this part of the node timeout is not waited for when the others have decided. */
    private static final int PROMPT_SHARE = 4;

    private static final Duration LOOK_TIMEOUT = Duration.ofSeconds(2);
    /** Nobody waits for it, but others stand behind it. */
    private static final Duration PURSUIT_TIMEOUT = Duration.ofMillis(500);
    /** 50 to 250 ms, at random: rivals who split the vote must not meet again. */
    private static final Waiting.Poll RETRY =
            Waiting.poll().every(Duration.ofMillis(150)).withJitter(0.66);

    private final List<QuorumNode> nodes;
    private final int majority;
    private final Optional<Duration> nodeTimeout;
    private final StoreContext context;
    private final StoreTraits traits;
    private final LossTally losses;

    private QuorumStore(
            List<QuorumNode> nodes, Optional<Duration> nodeTimeout, StoreContext context, LossTally losses) {
        this.nodes = nodes;
        this.majority = nodes.size() / 2 + 1;
        this.nodeTimeout = nodeTimeout;
        this.context = context;
        this.losses = losses;
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
                throw new IllegalArgumentException("the node timeout must be positive, not " + timeout);
            }
            return new Factory(stores, Optional.of(timeout));
        }

        @Override
        public LockStore open(StoreContext context) {
            LossTally losses = new LossTally(context.time());
            List<QuorumNode> nodes = new ArrayList<>();
            for (int i = 0; i < stores.size(); i++) {
                LockStore store = stores.get(i).open(nodeContext(context, i, losses));
                if (!(store instanceof TokenRaisingStore)) {
                    store.close();
                    nodes.forEach(QuorumNode::close);
                    throw new IllegalArgumentException(
                            store.traits().store() + " cannot be in a quorum: its tokens cannot be raised");
                }
                nodes.add(new QuorumNode(i, store, context.clientName()));
            }
            return new QuorumStore(List.copyOf(nodes), nodeTimeout, context, losses);
        }

        private StoreContext nodeContext(StoreContext context, int node, LossTally losses) {
            int spare = stores.size() - (stores.size() / 2 + 1);
            return new StoreContext(
                    context.clientId(),
                    context.clientName(),
                    context.time(),
                    context.timer(),
                    context.background(),
                    (owner, reason, detail) -> {
                        if (losses.lost(owner, node) > spare) {
                            context.losses().lost(owner, reason, detail);
                        }
                    });
        }
    }

    private static StoreTraits traits(List<QuorumNode> nodes) {
        List<StoreTraits> all =
                nodes.stream().map(node -> node.store().traits()).toList();
        String names = all.stream().map(StoreTraits::store).collect(Collectors.joining(", "));
        StoreTraits traits = StoreTraits.of("quorum of " + names)
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

    // Acquiring

    @Override
    public Answer attempt(Request request, Deadline deadline) {
        if (!traits.supports(request.demand())) {
            throw new UnsupportedLockException(request.name(), "majorities do not add up for " + request.demand());
        }
        long baseNanos = context.time().nanoTime();
        NodeGrants grants = new NodeGrants();
        Deadline nodeDeadline = nodeDeadline(request.ttl(), deadline);
        Ballot<Answer> ballot = new Ballot<>(nodes.size());
        for (QuorumNode node : nodes) {
            node.run(() -> cast(ballot, node, () -> askNode(node, request, grants, nodeDeadline)));
        }
        ballot.await(nodeDeadline, this::isDecided);
        List<Vote<Answer>> votes = waitForPrompt(ballot, request.ttl(), deadline);
        if (granted(votes) >= majority) {
            Optional<Grant> grant = settleToken(request, votes, grants, baseNanos, deadline);
            if (grant.isPresent()) {
                losses.track(request);
                return new Answer.Granted(grant.get());
            }
        }
        giveUp(request, grants, votes, deadline);
        return refusal(request, votes);
    }

    private Answer askNode(QuorumNode node, Request request, NodeGrants grants, Deadline nodeDeadline) {
        long startNanos = context.time().nanoTime();
        Answer answer = node.store().attempt(request, nodeDeadline);
        long tookNanos = context.time().nanoTime() - startNanos;
        node.setPrompt(tookNanos < nodeTimeout(request.ttl()).toNanos() / PROMPT_SHARE);
        if (answer instanceof Answer.Granted granted && !grants.add(node.number(), granted.grant())) {
            // Too late: the try is over.
            pursue(node, request);
        }
        return answer;
    }

    /** Failures alone decide nothing yet: whoever is still to answer shows whether it is a rival or an outage. */
    private boolean isDecided(List<Vote<Answer>> votes) {
        return granted(votes) >= majority || isRefused(votes);
    }

    private boolean isRefused(List<Vote<Answer>> votes) {
        return Ballot.count(votes, answer -> answer instanceof Answer.Refused) > nodes.size() - majority;
    }

    private static long granted(List<Vote<Answer>> votes) {
        return Ballot.count(votes, answer -> answer instanceof Answer.Granted);
    }

    /**
     * It is decided. The others are worth a moment unless they were slow before: a grant makes the lease more robust, or must
     * not be left behind by a try that failed.
     */
    private List<Vote<Answer>> waitForPrompt(Ballot<Answer> ballot, Duration ttl, Deadline deadline) {
        Duration moment = nodeTimeout(ttl).dividedBy(PROMPT_SHARE);
        List<Vote<Answer>> votes = ballot.await(deadline.within(moment), so -> {
            Set<Integer> voted = so.stream().map(Vote::node).collect(Collectors.toSet());
            return nodes.stream().noneMatch(node -> node.isPrompt() && !voted.contains(node.number()));
        });
        Set<Integer> voted = votes.stream().map(Vote::node).collect(Collectors.toSet());
        nodes.stream().filter(node -> !voted.contains(node.number())).forEach(node -> node.setPrompt(false));
        return votes;
    }

    /** The second round. Empty if a majority could not be brought to the agreed token in time. */
    private Optional<Grant> settleToken(
            Request request, List<Vote<Answer>> votes, NodeGrants grants, long baseNanos, Deadline deadline) {
        Map<Integer, Grant> given = new HashMap<>();
        for (Vote<Answer> vote : votes) {
            if (vote.answer() instanceof Answer.Granted granted) {
                given.put(vote.node(), granted.grant());
            }
        }
        long token = given.values().stream().mapToLong(Grant::token).max().orElseThrow();
        Duration ttl =
                given.values().stream().map(Grant::ttl).min(Duration::compareTo).orElseThrow();
        Deadline nodeDeadline = nodeDeadline(request.ttl(), deadline);
        Ballot<Boolean> ballot = new Ballot<>(given.size());
        int ballotNumber = 0;
        for (Map.Entry<Integer, Grant> entry : given.entrySet()) {
            QuorumNode node = nodes.get(entry.getKey());
            int number = ballotNumber++;
            if (entry.getValue().token() == token) {
                ballot.cast(new Vote<>(number, true, null));
            } else {
                node.run(() -> cast(ballot, number, () -> {
                    node.raising().raise(request.name(), token, nodeDeadline);
                    return true;
                }));
            }
        }
        List<Vote<Boolean>> raised = ballot.await(nodeDeadline, so -> Ballot.count(so, done -> done) >= majority);
        return Ballot.count(raised, done -> done) >= majority
                ? Optional.of(new Grant(request, token, ttl, baseNanos, grants))
                : Optional.empty();
    }

    /** Nothing of a failed try may stay: it would keep others from their majority. */
    private void giveUp(Request request, NodeGrants grants, List<Vote<Answer>> votes, Deadline deadline) {
        grants.end();
        Map<Integer, Vote<Answer>> byNode = votes.stream().collect(Collectors.toMap(Vote::node, Function.identity()));
        Deadline nodeDeadline = nodeDeadline(request.ttl(), deadline);
        List<QuorumNode> held = new ArrayList<>();
        for (QuorumNode node : nodes) {
            Vote<Answer> vote = byNode.get(node.number());
            if (vote == null || vote.failure() instanceof UnknownOutcomeException) {
                pursue(node, request);
            } else if (vote.answer() instanceof Answer.Granted) {
                held.add(node);
            }
        }
        Ballot<Boolean> ballot = new Ballot<>(held.size());
        for (int i = 0; i < held.size(); i++) {
            QuorumNode node = held.get(i);
            int number = i;
            node.run(() -> cast(ballot, number, () -> {
                try {
                    node.store().withdraw(request, nodeDeadline);
                } catch (LockException e) {
                    pursue(node, request);
                }
                return true;
            }));
        }
        ballot.await(nodeDeadline, all -> false);
    }

    private Answer refusal(Request request, List<Vote<Answer>> votes) {
        String said = said(
                votes, answer -> answer instanceof Answer.Refused refused ? "refused, " + refused.reason() : "granted");
        long answered = votes.stream().filter(vote -> vote.answer() != null).count();
        if (answered < majority && !isRefused(votes)) {
            StoreUnavailableException failure = new StoreUnavailableException(
                    request.name(),
                    "only " + answered + " of " + nodes.size() + " nodes answered in time, " + majority
                            + " are needed (" + said + ")");
            votes.stream().map(Vote::failure).filter(Objects::nonNull).forEach(failure::addSuppressed);
            throw failure;
        }
        return new Answer.Refused(granted(votes) + " of " + nodes.size() + " nodes granted it, " + majority
                + " are needed (" + said + ")");
    }

    /** Which node said what, for people. */
    private <T> String said(List<Vote<T>> votes, Function<T, String> text) {
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

    // Keeping

    @Override
    public List<RenewalAnswer> renew(List<RenewalRequest> renewals, Deadline deadline) {
        long baseNanos = context.time().nanoTime();
        Duration shortest = renewals.stream()
                .map(RenewalRequest::ttl)
                .min(Duration::compareTo)
                .orElse(LOOK_TIMEOUT);
        Deadline nodeDeadline = nodeDeadline(shortest, deadline);
        Ballot<List<Optional<RenewalAnswer>>> ballot = new Ballot<>(nodes.size());
        for (QuorumNode node : nodes) {
            node.run(() -> cast(ballot, node, () -> renewAt(node, renewals, nodeDeadline)));
        }
        List<Vote<List<Optional<RenewalAnswer>>>> votes =
                ballot.await(nodeDeadline, so -> isSettled(so, renewals.size()));
        List<RenewalAnswer> answers = new ArrayList<>(renewals.size());
        for (int i = 0; i < renewals.size(); i++) {
            answers.add(combine(renewals.get(i), i, votes, baseNanos));
        }
        return answers;
    }

    /** Per renewal what the node said, or empty if it has no part in that lease. */
    private List<Optional<RenewalAnswer>> renewAt(QuorumNode node, List<RenewalRequest> renewals, Deadline deadline) {
        List<RenewalRequest> own = new ArrayList<>();
        List<Integer> positions = new ArrayList<>();
        for (int i = 0; i < renewals.size(); i++) {
            Optional<Grant> grant = grantsOf(renewals.get(i)).of(node.number());
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
                    grantsOf(renewals.get(positions.get(i))).remove(node.number());
                }
            }
        }
        return answers;
    }

    private static NodeGrants grantsOf(RenewalRequest renewal) {
        return grantsOf((Grant) renewal.claim());
    }

    private static NodeGrants grantsOf(Grant grant) {
        return (NodeGrants) Objects.requireNonNull(grant.handle(), "a grant of another store");
    }

    private boolean isSettled(List<Vote<List<Optional<RenewalAnswer>>>> votes, int renewals) {
        for (int i = 0; i < renewals; i++) {
            if (extended(votes, i).size() < majority) {
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
        if (extended.size() >= majority) {
            Duration ttl = extended.stream()
                    .map(RenewalAnswer.Extended::ttl)
                    .min(Duration::compareTo)
                    .orElseThrow();
            losses.renewed(renewal.claim().request());
            return new RenewalAnswer.Extended(baseNanos, ttl);
        }
        String said = said(
                votes,
                answers -> answers.get(i)
                        .map(answer -> answer instanceof RenewalAnswer.Extended ? "renewed" : answer.toString())
                        .orElse("has no part in it"));
        long gone = Ballot.count(
                votes,
                answers ->
                        answers.get(i).map(a -> a instanceof RenewalAnswer.Gone).orElse(true));
        if (gone > nodes.size() - majority) {
            losses.forget(renewal.claim().request().owner());
            return new RenewalAnswer.Gone("fewer than " + majority + " nodes still have it (" + said + ")");
        }
        return new RenewalAnswer.Unsettled(new UnknownOutcomeException(
                renewal.claim().request().name(),
                "fewer than " + majority + " nodes renewed it in time (" + said + ")"));
    }

    // Ending

    @Override
    public ReleaseAnswer release(Grant grant, Duration linger, Deadline deadline) {
        Request request = grant.request();
        NodeGrants grants = grantsOf(grant);
        grants.end();
        losses.forget(request.owner());
        Deadline nodeDeadline = nodeDeadline(request.ttl(), deadline);
        Ballot<ReleaseAnswer> ballot = new Ballot<>(nodes.size());
        for (QuorumNode node : nodes) {
            node.run(() -> cast(ballot, node, () -> releaseAt(node, grants, request, linger, nodeDeadline)));
        }
        List<Vote<ReleaseAnswer>> votes = ballot.await(
                nodeDeadline, so -> Ballot.count(so, answer -> answer == ReleaseAnswer.RELEASED) >= majority);
        if (Ballot.count(votes, answer -> answer == ReleaseAnswer.RELEASED) >= majority) {
            return ReleaseAnswer.RELEASED;
        }
        if (Ballot.count(votes, answer -> answer == ReleaseAnswer.NOT_HELD) > nodes.size() - majority) {
            return ReleaseAnswer.NOT_HELD;
        }
        throw new UnknownOutcomeException(
                request.name(), "fewer than " + majority + " nodes released it (" + said(votes, Enum::name) + ")");
    }

    /** Also at a node that never said it granted: it may have. */
    private ReleaseAnswer releaseAt(
            QuorumNode node, NodeGrants grants, Request request, Duration linger, Deadline deadline) {
        Optional<Grant> grant = grants.of(node.number());
        try {
            if (grant.isPresent()) {
                return node.store().release(grant.get(), linger, deadline);
            }
            return node.store().withdraw(request, deadline) == Withdrawal.REMOVED
                    ? ReleaseAnswer.RELEASED
                    : ReleaseAnswer.NOT_HELD;
        } catch (LockException e) {
            pursue(node, request);
            throw e;
        }
    }

    @Override
    public Withdrawal withdraw(Request request, Deadline deadline) {
        losses.forget(request.owner());
        List<Vote<Withdrawal>> votes = ask(
                nodeDeadline(request.ttl(), deadline),
                node -> node.store().withdraw(request, nodeDeadline(request.ttl(), deadline)));
        if (Ballot.failures(votes) > 0 || votes.size() < nodes.size()) {
            throw new UnknownOutcomeException(
                    request.name(), "not all nodes could be asked to undo it (" + said(votes, Enum::name) + ")");
        }
        // Where it was not found it may yet arrive, so looking again pays unless it was found everywhere.
        return Ballot.count(votes, answer -> answer == Withdrawal.REMOVED) == nodes.size()
                ? Withdrawal.REMOVED
                : Withdrawal.NOT_FOUND;
    }

    /** Withdraws a request from one node until it is gone for good, or the ttl has made it moot. */
    private void pursue(QuorumNode node, Request request) {
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
            } catch (LockException e) {
                LOG.log(System.Logger.Level.DEBUG, "cannot undo a request yet", e);
            }
            long again = context.time().nanoTime() + request.ttl().toNanos() / 3;
            context.timer().at(again, () -> pursue(node, request, mootNanos));
        });
    }

    // Looking and administering

    @Override
    public LockView view(String name, Deadline deadline) {
        Deadline nodeDeadline = deadline.within(LOOK_TIMEOUT);
        List<Vote<LockView>> votes =
                requireMajority(name, ask(nodeDeadline, node -> node.store().view(name, nodeDeadline)));
        return QuorumViews.combine(
                name,
                majority,
                votes.stream().map(Vote::answer).filter(Objects::nonNull).toList());
    }

    @Override
    public List<LockView> views(String prefix, Deadline deadline) {
        Deadline nodeDeadline = deadline.within(LOOK_TIMEOUT);
        List<Vote<List<LockView>>> votes =
                requireMajority(prefix, ask(nodeDeadline, node -> node.store().views(prefix, nodeDeadline)));
        Map<String, List<LockView>> byName = votes.stream()
                .map(Vote::answer)
                .filter(Objects::nonNull)
                .flatMap(List::stream)
                .collect(Collectors.groupingBy(LockView::name));
        return byName.entrySet().stream()
                .map(entry -> QuorumViews.combine(entry.getKey(), majority, entry.getValue()))
                .filter(LockView::isHeld)
                .sorted(Comparator.comparing(LockView::name))
                .toList();
    }

    @Override
    public void raise(String name, long floor, Deadline deadline) {
        Deadline nodeDeadline = deadline.within(LOOK_TIMEOUT);
        requireMajority(name, ask(nodeDeadline, node -> {
            node.raising().raise(name, floor, nodeDeadline);
            return true;
        }));
    }

    @Override
    public int forceRelease(String name, Deadline deadline) {
        return most(name, deadline, (store, nodeDeadline) -> store.forceRelease(name, nodeDeadline));
    }

    @Override
    public int prune(Duration idleFor, Deadline deadline) {
        return most("", deadline, (store, nodeDeadline) -> store.prune(idleFor, nodeDeadline));
    }

    private interface Administration {
        int on(AdministeredStore store, Deadline deadline);
    }

    private int most(String name, Deadline deadline, Administration administration) {
        for (QuorumNode node : nodes) {
            if (!(node.store() instanceof AdministeredStore)) {
                throw new UnsupportedLockException(name, node.name() + " cannot be administered");
            }
        }
        Deadline nodeDeadline = deadline.within(LOOK_TIMEOUT);
        List<Vote<Integer>> votes = requireMajority(
                name, ask(nodeDeadline, node -> administration.on((AdministeredStore) node.store(), nodeDeadline)));
        return votes.stream()
                .map(Vote::answer)
                .filter(Objects::nonNull)
                .mapToInt(Integer::intValue)
                .max()
                .orElse(0);
    }

    // Asking

    private interface Question<T> {
        T ask(QuorumNode node);
    }

    private interface Call<T> {
        T get();
    }

    /** Asks all nodes at once and waits for all, no longer than the deadline. */
    private <T> List<Vote<T>> ask(Deadline nodeDeadline, Question<T> question) {
        Ballot<T> ballot = new Ballot<>(nodes.size());
        for (QuorumNode node : nodes) {
            node.run(() -> cast(ballot, node, () -> question.ask(node)));
        }
        return ballot.await(nodeDeadline, all -> false);
    }

    private <T> List<Vote<T>> requireMajority(String name, List<Vote<T>> votes) {
        long answered = votes.stream().filter(vote -> vote.answer() != null).count();
        if (answered < majority) {
            throw new StoreUnavailableException(
                    name,
                    "only " + answered + " of " + nodes.size() + " nodes answered (" + said(votes, answer -> "answered")
                            + ")");
        }
        return votes;
    }

    private static <T> void cast(Ballot<T> ballot, QuorumNode node, Call<T> call) {
        cast(ballot, node.number(), call);
    }

    private static <T> void cast(Ballot<T> ballot, int number, Call<T> call) {
        try {
            ballot.cast(new Vote<>(number, call.get(), null));
        } catch (RuntimeException e) {
            ballot.cast(new Vote<>(number, null, e));
        }
    }

    private Deadline nodeDeadline(Duration ttl, Deadline deadline) {
        return deadline.within(nodeTimeout(ttl));
    }

    private Duration nodeTimeout(Duration ttl) {
        Duration share = ttl.dividedBy(TTL_PER_NODE_TIMEOUT);
        return nodeTimeout.orElse(share.compareTo(LEAST_NODE_TIMEOUT) < 0 ? LEAST_NODE_TIMEOUT : share);
    }

    @Override
    public void close() {
        nodes.forEach(QuorumNode::close);
    }
}
