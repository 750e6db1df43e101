package io.holdfast.zookeeper.ticket;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Deadline;
import io.holdfast.zookeeper.session.Answers;
import io.holdfast.zookeeper.session.Failures;
import io.holdfast.zookeeper.session.Session;
import io.holdfast.zookeeper.session.SessionOverException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** Renews what lives by one session with one write, and looks at nodes that nobody has looked at yet. */
final class Renewal {

    private final Session session;
    private final List<TicketNode> nodes;
    private @Nullable CompletableFuture<Void> sent;

    Renewal(Session session, List<TicketNode> nodes) {
        this.session = session;
        this.nodes = nodes;
    }

    /** Renews all, in whatever sessions they are; what fails is reported to the tickets too. */
    static void renewAll(List<TicketNode> nodes, Deadline deadline) {
        Map<Session, List<TicketNode>> bySession = nodes.stream().collect(Collectors.groupingBy(TicketNode::session));
        // All are sent before any is waited for, and sessions without a connection come last: one whose server hangs
        // must
        // not cost the others their time.
        List<Renewal> reachable = new ArrayList<>();
        List<Renewal> others = new ArrayList<>();
        bySession.forEach((session, itsNodes) -> {
            Renewal renewal = new Renewal(session, itsNodes);
            if (session.isReachable()) {
                renewal.sent = renewal.send();
                reachable.add(renewal);
            } else {
                others.add(renewal);
            }
        });
        reachable.forEach(renewal -> renewal.awaitAndReport(deadline));
        others.forEach(renewal -> renewal.awaitAndReport(deadline));
    }

    private void awaitAndReport(Deadline deadline) {
        await(deadline).ifPresent(failure -> nodes.forEach(node -> node.ticket().failing(failure)));
    }

    /** Answers come in order: once the write is answered, so are the looks before it. */
    private CompletableFuture<Void> send() {
        nodes.forEach(TicketNode::lookAgain);
        nodes.forEach(TicketNode::watchOwnNode);
        return session.prove();
    }

    /** Asks, again on a new connection if need be. Tells the tickets how it went, unless that is returned. */
    Optional<LockException> await(Deadline deadline) {
        String lock = nodes.get(0).lock();
        while (true) {
            try {
                CompletableFuture<Void> answer = sent;
                if (answer == null) {
                    session.awaitConnected(lock, deadline);
                    answer = send();
                }
                Answers.await(answer, deadline);
                nodes.forEach(TicketNode::reportRenewal);
                return Optional.empty();
            } catch (SessionOverException e) {
                nodes.forEach(node -> node.ticket().gone(LossReason.GONE, e.getMessage()));
                return Optional.empty();
            } catch (StoreUnavailableException e) {
                return Optional.of(e);
            } catch (KeeperException e) {
                session.noteFailure(e);
                if (!Answers.mayAskAgain(e, deadline)) {
                    return Optional.of(Failures.refused(lock, session.ensemble(), e));
                }
                sent = null;
            }
        }
    }
}
