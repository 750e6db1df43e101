package io.holdfast.zookeeper.ticket;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Ticket;
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

/** Renews tickets that live by one session with one write, and looks at nodes that nobody has looked at yet. */
final class Renewal {

    private final Session session;
    private final List<Ticket> tickets;
    private @Nullable CompletableFuture<Void> sent;

    /** @param tickets all with nodes in that session */
    Renewal(Session session, List<Ticket> tickets) {
        this.session = session;
        this.tickets = tickets;
    }

    /** Renews all, in whatever sessions they are; what fails is reported to the tickets too. */
    static void renewAll(List<Ticket> tickets, Deadline deadline) {
        Map<Session, List<Ticket>> bySession = tickets.stream()
                .collect(Collectors.groupingBy(ticket -> node(ticket).session()));
        // All are sent before any is waited for, and sessions without a connection come last: one whose server hangs
        // must not cost the others their time.
        List<Renewal> reachable = new ArrayList<>();
        List<Renewal> others = new ArrayList<>();
        bySession.forEach((session, its) -> {
            Renewal renewal = new Renewal(session, its);
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

    private static TicketNode node(Ticket ticket) {
        return ticket.handle(TicketNode.class).orElseThrow();
    }

    private void awaitAndReport(Deadline deadline) {
        await(deadline).ifPresent(failure -> tickets.forEach(ticket -> ticket.failing(failure)));
    }

    /** Answers come in order: once the write is answered, so are the looks before it. */
    private CompletableFuture<Void> send() {
        tickets.forEach(ticket -> node(ticket).watchOwnNode());
        node(tickets.get(0)).tickets().checkViews();
        return session.prove();
    }

    /** Asks, again on a new connection if need be. Tells the tickets how it went, unless that is returned. */
    Optional<LockException> await(Deadline deadline) {
        String lock = tickets.get(0).name();
        while (true) {
            try {
                CompletableFuture<Void> answer = sent;
                if (answer == null) {
                    session.awaitConnected(lock, deadline);
                    answer = send();
                }
                Answers.await(answer, deadline);
                tickets.forEach(ticket -> node(ticket).reportRenewal(ticket));
                return Optional.empty();
            } catch (SessionOverException e) {
                tickets.forEach(ticket -> ticket.gone(LossReason.GONE, e.getMessage()));
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
