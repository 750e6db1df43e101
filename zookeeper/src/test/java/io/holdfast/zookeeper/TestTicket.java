package io.holdfast.zookeeper;

import io.holdfast.LockException;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Ticket.Ending;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A ticket, and what it was told. */
final class TestTicket implements Ticket.Listener {

    final Ticket ticket;

    /** Tokens: more than one would be a grant told twice. */
    final BlockingQueue<Long> grants = new LinkedBlockingQueue<>();

    final BlockingQueue<Ending> losses = new LinkedBlockingQueue<>();
    final BlockingQueue<LockException> failures = new LinkedBlockingQueue<>();
    final AtomicInteger kept = new AtomicInteger();

    TestTicket(Function<Ticket.Listener, Ticket> maker) {
        ticket = maker.apply(this);
    }

    long token() {
        return ticket.storeToken();
    }

    @Override
    public void granted() {
        grants.add(ticket.storeToken());
    }

    @Override
    public void kept() {
        kept.incrementAndGet();
    }

    @Override
    public void failing(LockException cause) {
        failures.add(cause);
    }

    @Override
    public void ended(Ending why) {
        losses.add(why);
    }
}
