package io.holdfast.etcd;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.etcd.session.SessionProbe;
import io.holdfast.spi.Ticket;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A ticket, and what it was told. */
final class TestTicket implements Ticket.Listener {

    final Ticket ticket;
    final CompletableFuture<TestTicket> grant = new CompletableFuture<>();
    final CompletableFuture<Ticket.Ending> loss = new CompletableFuture<>();
    final AtomicInteger kept = new AtomicInteger();

    /** Why the last renewal failed, if it did. */
    volatile Optional<LockException> failure = Optional.empty();

    TestTicket(Function<Ticket.Listener, Ticket> maker) {
        ticket = maker.apply(this);
    }

    long token() {
        return ticket.storeToken();
    }

    SessionProbe session() {
        return SessionProbe.of(ticket);
    }

    boolean isGranted() {
        return grant.isDone();
    }

    TestTicket arrived() {
        return grant.orTimeout(20, TimeUnit.SECONDS).join();
    }

    boolean isLost() {
        return loss.isDone();
    }

    LossReason heardOfLoss() {
        return loss.orTimeout(20, TimeUnit.SECONDS).join().reason();
    }

    @Override
    public void granted() {
        grant.complete(this);
    }

    @Override
    public void kept() {
        kept.incrementAndGet();
    }

    @Override
    public void failing(LockException cause) {
        failure = Optional.of(cause);
    }

    @Override
    public void ended(Ticket.Ending why) {
        loss.complete(why);
    }
}
