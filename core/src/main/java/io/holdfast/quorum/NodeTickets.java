package io.holdfast.quorum;

import io.holdfast.LockException;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Ticket.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One ticket's parts, a ticket of its own at every node: their states tell what each node granted, late ones included.
 * Thread-safe.
 */
final class NodeTickets {

    private final Ticket whole;
    private final QuorumNodes nodes;
    private final List<Part> parts = new ArrayList<>();
    /** That any node was asked for; written by one extension at a time. */
    private volatile Duration longestTtl;

    NodeTickets(Ticket whole, QuorumNodes nodes) {
        this.whole = whole;
        this.nodes = nodes;
        this.longestTtl = whole.ttl();
        nodes.all().forEach(node -> parts.add(new Part(node)));
        whole.attach(this);
    }

    /** What a quorum's ticket is made of; nothing has been sent of one that was never asked for. */
    static NodeTickets of(Ticket whole, QuorumNodes nodes) {
        return whole.handle(NodeTickets.class).orElseGet(() -> new NodeTickets(whole, nodes));
    }

    Part at(QuorumNode node) {
        return parts.get(node.number());
    }

    /**
     * How far a majority of the parts reach: sorted by their ends, latest first, the one that completes a majority. Nodes may be
     * answering meanwhile, so each part is looked at once: one that moves on must not count for the others.
     */
    Optional<Ticket.Extent> vouchedFor() {
        long baseNanos = whole.baseNanos();
        return parts.stream()
                .flatMap(part -> part.ticket.held().stream())
                .sorted(Comparator.comparingLong((Ticket.Extent held) -> held.endNanos() - baseNanos)
                        .reversed())
                .skip(nodes.majority() - 1L)
                .findFirst();
    }

    /** Forgets what nodes said of the last renewal. */
    void beginRenewal() {
        parts.forEach(part -> {
            part.failure = null;
            part.isConfirmed = false;
        });
    }

    /** How many nodes have kept it since, also those that have not answered for the whole batch. */
    long confirmed() {
        return parts.stream()
                .filter(part -> part.isConfirmed && part.ticket.state() == State.HELD)
                .count();
    }

    /** Notes before an extension is sent how long a node may keep its part from then on, answered or not. */
    void beginExtension(Duration ttl) {
        longestTtl = longestTtl.compareTo(ttl) < 0 ? ttl : longestTtl;
    }

    /** From now on a grant that still comes is unwanted. */
    void end() {
        parts.forEach(part -> part.ticket.end());
    }

    /** The caller is told that a majority released it. */
    void tellReleased() {
        parts.forEach(Part::tellReleased);
    }

    private enum Release {
        NOT_SENT,
        SENT,
        DONE,
        /** Done, and said so to the caller: another release finds nothing. */
        TOLD
    }

    /** The ticket of one node. */
    final class Part implements Ticket.Listener {

        private final QuorumNode node;
        private final Ticket ticket;
        private volatile @Nullable LockException failure;
        private volatile boolean isConfirmed;
        private volatile Release release = Release.NOT_SENT;

        Part(QuorumNode node) {
            this.node = node;
            this.ticket = whole.forNode(this);
        }

        QuorumNode node() {
            return node;
        }

        Ticket ticket() {
            return ticket;
        }

        /** For how long the node may keep it after the last request. */
        Duration longestTtl() {
            return longestTtl;
        }

        /** Sends a release unless one was answered before; one that found nothing after an unanswered one has been done. */
        ReleaseAnswer release(Supplier<ReleaseAnswer> request) {
            if (release == Release.DONE) {
                return ReleaseAnswer.RELEASED;
            }
            if (release == Release.TOLD) {
                return ReleaseAnswer.NOT_HELD;
            }
            boolean sentBefore = release == Release.SENT;
            release = Release.SENT;
            ReleaseAnswer answer = request.get();
            if (answer == ReleaseAnswer.NOT_HELD && !sentBefore) {
                release = Release.NOT_SENT; // it was lost there before, and says so again if asked again
                return answer;
            }
            release = Release.DONE;
            return ReleaseAnswer.RELEASED;
        }

        private void tellReleased() {
            if (release == Release.DONE) {
                release = Release.TOLD;
            }
        }

        /** What kept the last renewal from being done, if something did. */
        Optional<LockException> failure() {
            return Optional.ofNullable(failure);
        }

        @Override
        public void kept() {
            failure = null;
            isConfirmed = true;
        }

        @Override
        public void failing(LockException cause) {
            failure = cause;
        }

        /** One node's loss is none while a majority may still keep it. */
        @Override
        public void ended(Ticket.Ending why) {
            long ended = parts.stream()
                    .filter(part -> part.ticket.state() == State.ENDED)
                    .count();
            if (whole.state() == State.HELD && nodes.isBlocking(ended)) {
                whole.gone(why.reason(), why.detail());
            }
        }

        /** The grant came when the lease had ended or was given up: it is withdrawn in the background. */
        @Override
        public void unwanted() {
            nodes.pursue(this);
        }
    }
}
