package io.holdfast.internal.ticket;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.holdfast.Demand;
import io.holdfast.LockOptions;
import io.holdfast.Renewal;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.internal.work.Lifecycle;
import io.holdfast.internal.work.ServerThreads;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Explores interleavings of the timer, a renewal's answer and a holder that looks, at the end of a lease: one of each, which
 * is little enough to try them all. A ticket that has neither ended nor is kept shows when the clock has moved on.
 */
@DisplayName("The end of a ticket, over all interleavings the model checker finds")
public class KeeperModelTest {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Lifecycle LIFECYCLE = new Lifecycle("client");
    private static final long START = 0;
    private static final long SENT = TTL.toNanos() / 2;
    private static final long END = TTL.toNanos();
    private static final long AFTER_ALL = 10 * END;

    private final ConcurrentLinkedQueue<Runnable> alarms = new ConcurrentLinkedQueue<>();
    private final Clock clock = new Clock();
    private final Callbacks callbacks = new Callbacks(Optional.empty(), Runnable::run, Runnable::run, LIFECYCLE);
    private final StoreRequests requests = new StoreRequests(
            MemoryStore.unnamed().open(new StoreContext("client", "client", clock, this::at, Runnable::run)),
            clock,
            Duration.ofSeconds(1),
            LIFECYCLE,
            new Telemetry(List.of(), List.of(), callbacks, clock));
    private final ServerThreads threads = new ServerThreads("model-");
    private final Keeper keeper = new Keeper(requests, clock, this::at, threads, callbacks, () -> {});
    private final Tickets tickets = new Tickets(
            new OwnerId.Source(),
            "client",
            "host",
            clock,
            new Validity(clock, Duration.ZERO),
            keeper,
            new Cleanup(requests, clock, this::at, threads));
    private final AtomicInteger told = new AtomicInteger();
    /** Not renewed, so that its time is over when nobody moves it on. */
    private final KeptTicket kept = tickets.open(
            "orders",
            Demand.exclusive(),
            LockOptions.defaults().withTtl(TTL).withRenewal(Renewal.NONE),
            tickets.origin("thread", Optional.empty(), List.of()),
            this::changed,
            START);

    private volatile boolean validAgain;

    public KeeperModelTest() {
        kept.ticket().granted(1, TTL, START);
        kept.keep();
    }

    /** As a lease does that hears of its loss. */
    private void changed() {
        if (kept.ticket().state() == Ticket.State.ENDED) {
            told.incrementAndGet();
            kept.drop();
        }
    }

    @Operation(runOnce = true)
    public void timerRings() {
        clock.pass(END);
        ringOnce();
    }

    @Operation(runOnce = true)
    public void renewalIsAnswered() {
        kept.ticket().extended(TTL, SENT);
    }

    @Operation(runOnce = true)
    public void holderLooksTwice() {
        clock.pass(END);
        boolean first = kept.ticket().isValid();
        validAgain = kept.ticket().isValid() && !first;
    }

    @Validate
    public void ticketHasEndedOnceAndNothingIsKept() {
        clock.pass(AFTER_ALL);
        while (!alarms.isEmpty()) {
            ringOnce();
        }
        Ticket.State state = kept.ticket().state();
        if (state != Ticket.State.ENDED || told.get() != 1 || !keeper.isEmpty() || validAgain) {
            throw new IllegalStateException("the ticket is " + state + ", its user was told " + told + " times, kept: "
                    + !keeper.isEmpty() + ", valid again: " + validAgain);
        }
    }

    private StoreContext.Alarm at(long nanos, Runnable task) {
        alarms.add(task);
        return () -> {};
    }

    private void ringOnce() {
        Runnable alarm = alarms.poll();
        if (alarm != null) {
            alarm.run();
        }
    }

    @Test
    void endsOrIsKeptAndIsNeverValidAgain() {
        new ModelCheckingOptions()
                .iterations(8) // each runs two of the three beside each other
                .invocationsPerIteration(500)
                .threads(2)
                .actorsPerThread(1)
                .actorsBefore(0)
                .actorsAfter(1)
                // What the JDK's collections do inside would hide the few steps that matter here among hundreds.
                .addGuarantee(forClasses(name -> name.startsWith("java.util."))
                        .allMethods()
                        .treatAsAtomic())
                .check(KeeperModelTest.class);
    }

    private static final class Clock implements TimeSource {

        private volatile long now = START;

        void pass(long nanos) {
            if (now < nanos) {
                now = nanos;
            }
        }

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            throw new UnsupportedOperationException();
        }
    }
}
