package io.holdfast.spi;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.spi.Ticket.State;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Explores interleavings of reports, the owner and the clock: every grant has one taker, and every ticket ends once. */
@DisplayName("A ticket, over all interleavings the model checker finds")
public class TicketModelTest {

    private static final Duration TTL = Duration.ofSeconds(10);

    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger grantsReported = new AtomicInteger();
    private final AtomicInteger granted = new AtomicInteger();
    private final AtomicInteger unwanted = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicInteger endedByOwner = new AtomicInteger();
    private final AtomicInteger endedInTheQueue = new AtomicInteger();
    private final Ticket ticket = new Ticket(
            "orders",
            new OwnerId("client", 1),
            Demand.exclusive(),
            TTL,
            new Origin("client", "host", 1, "main"),
            new Validity(new SteppedTime(), Duration.ZERO),
            new Counter());

    @Operation
    public void push() {
        grantsReported.incrementAndGet();
        ticket.granted(7);
    }

    @Operation
    public void grant() {
        grantsReported.incrementAndGet();
        ticket.granted(7, TTL, now.get());
    }

    @Operation
    public void extend() {
        ticket.extended(TTL, now.get());
    }

    @Operation
    public void lose() {
        ticket.gone(LossReason.GONE, "test");
    }

    @Operation
    public State end() {
        // As a release does: a grant may have become HELD just after its time was over, which nobody has looked at yet.
        ticket.endIfExpired();
        State before = ticket.end();
        if (before != State.ENDED) {
            endedByOwner.incrementAndGet();
        }
        if (before == State.WAITING) {
            endedInTheQueue.incrementAndGet();
        }
        return before;
    }

    @Operation
    public boolean isValid() {
        return ticket.isValid();
    }

    @Operation
    public void passTtl() {
        now.addAndGet(TTL.toNanos());
    }

    @Validate
    public void everyGrantHasATakerAndEveryEndIsToldOnce() {
        int ends = ended.get() + endedByOwner.get();
        boolean over = ticket.state() == State.ENDED;
        require(ends == (over ? 1 : 0), ends + " ends");
        require(granted.get() + endedInTheQueue.get() <= 1, granted + " grants, ended waiting " + endedInTheQueue);
        require(ticket.state() != State.HELD || granted.get() == 1, "held, but not told");
        boolean hasToken = ticket.storeToken() != Tokens.NONE;
        require(hasToken == (grantsReported.get() > 0), "token " + ticket.storeToken());
        // What was granted is in somebody's hands: the owner who was told, or the one who gives back.
        require(!hasToken || granted.get() + unwanted.get() > 0, "a grant nobody knows of");
        require(unwanted.get() == 0 || over, "an unwanted grant of a ticket that has not ended");
    }

    private static void require(boolean promise, String what) {
        if (!promise) {
            throw new IllegalStateException(what);
        }
    }

    private final class Counter implements Ticket.Listener {

        @Override
        public void granted() {
            granted.incrementAndGet();
        }

        @Override
        public void ended(Ticket.Ending why) {
            ended.incrementAndGet();
        }

        @Override
        public void unwanted() {
            unwanted.incrementAndGet();
        }
    }

    private final class SteppedTime implements TimeSource {

        @Override
        public long nanoTime() {
            return now.get();
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            LockSupport.park(blocker);
        }
    }

    @Test
    void keepsItsPromises() {
        check(15);
    }

    @Test
    @Tag("full")
    void keepsItsPromisesInManyMoreScenes() {
        check(400);
    }

    private static void check(int scenes) {
        new ModelCheckingOptions()
                .iterations(scenes)
                .invocationsPerIteration(500)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(0)
                .actorsAfter(1)
                .check(TicketModelTest.class);
    }
}
