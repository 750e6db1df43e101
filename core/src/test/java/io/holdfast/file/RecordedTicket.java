package io.holdfast.file;

import io.holdfast.LockException;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A ticket whose deadline never passes here, so that only the store ends it, and what it was told. Thread-safe. */
final class RecordedTicket implements Ticket.Listener {

    /** What the store said last. */
    enum Told {
        NOTHING,
        GRANTED,
        KEPT,
        FAILING,
        GONE
    }

    /** The clock of such tickets: it stands still. */
    static final class StandingStill implements TimeSource {

        private final long now = System.nanoTime();

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            throw new UnsupportedOperationException("nobody waits by this clock");
        }
    }

    private final Ticket ticket;
    private final Consumer<Ticket.Ending> losses;
    private final CompletableFuture<RecordedTicket> outcome = new CompletableFuture<>();
    private volatile Told told = Told.NOTHING;
    private volatile boolean waited;
    private volatile @Nullable LockException failure;

    RecordedTicket(Function<Ticket.Listener, Ticket> make, Consumer<Ticket.Ending> losses) {
        this.losses = losses;
        this.ticket = make.apply(this);
    }

    /** Another ticket of the same owner, which has heard nothing yet: an ended ticket is deaf to what the store answers. */
    RecordedTicket anew() {
        return new RecordedTicket(ticket::forNode, why -> {});
    }

    Ticket ticket() {
        return ticket;
    }

    /** Completes with its first grant, or fails with its end. */
    CompletableFuture<RecordedTicket> outcome() {
        return outcome;
    }

    long token() {
        return ticket.storeToken();
    }

    Told told() {
        return told;
    }

    @Nullable
    LockException failure() {
        return failure;
    }

    /** Whether it had a place in the queue before anything else became of it. */
    boolean hasWaited() {
        return waited;
    }

    void forgetWhatItWasTold() {
        told = Told.NOTHING;
    }

    @Override
    public void granted() {
        told = Told.GRANTED;
        outcome.complete(this);
    }

    @Override
    public void kept() {
        waited |= !outcome.isDone();
        told = Told.KEPT;
    }

    @Override
    public void failing(LockException cause) {
        failure = cause;
        told = Told.FAILING;
    }

    @Override
    public void ended(Ticket.Ending why) {
        losses.accept(why);
        told = Told.GONE;
        outcome.completeExceptionally(new IllegalStateException(why.detail()));
    }

    @Override
    public String toString() {
        return ticket + ", last told " + told;
    }
}
