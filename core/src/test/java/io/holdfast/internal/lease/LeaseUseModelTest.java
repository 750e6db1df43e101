package io.holdfast.internal.lease;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.holdfast.Demand;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.Renewal;
import io.holdfast.internal.telemetry.Telemetry;
import io.holdfast.internal.ticket.Cleanup;
import io.holdfast.internal.ticket.HandoffLimits;
import io.holdfast.internal.ticket.Keeper;
import io.holdfast.internal.ticket.KeptTicket;
import io.holdfast.internal.ticket.StoreRequests;
import io.holdfast.internal.ticket.TicketUser;
import io.holdfast.internal.ticket.Tickets;
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
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Explores interleavings of a lease that begins on a granted ticket and the end of that ticket. */
@DisplayName("The beginning of a lease, over all interleavings the model checker finds")
public class LeaseUseModelTest {

    private static final Duration TTL = Duration.ofSeconds(10);
    /** Not renewed, so that no leak is watched for. */
    private static final LockOptions OPTIONS =
            LockOptions.defaults().withTtl(TTL).withRenewal(Renewal.NONE).withMaxHold(TTL.dividedBy(2));

    private static final Lifecycle LIFECYCLE = new Lifecycle("client");

    private final StoppedClock clock = new StoppedClock();
    private final Callbacks callbacks = new Callbacks(Optional.empty(), task -> {}, task -> {}, LIFECYCLE);
    private final Telemetry telemetry = new Telemetry(List.of(), List.of(), callbacks, clock);
    private final StoreRequests requests = new StoreRequests(
            MemoryStore.unnamed().open(new StoreContext("client", "client", clock, this::at, Runnable::run)),
            clock,
            Duration.ofSeconds(1),
            LIFECYCLE,
            telemetry);
    private final ServerThreads threads = new ServerThreads("model-");
    private final Keeper keeper = new Keeper(requests, clock, this::at, threads, callbacks, () -> {});
    private final Validity validity = new Validity(clock, Duration.ZERO);
    private final Tickets tickets = new Tickets(
            new OwnerId.Source(),
            "client",
            "host",
            clock,
            validity,
            keeper,
            new Cleanup(requests, clock, this::at, threads));
    private final Leases leases = new Leases(
            clock,
            requests,
            validity,
            new HandoffLimits(0, Duration.ZERO),
            callbacks,
            name -> Runnable::run,
            new LeakWatch());
    private final KeptTicket kept = tickets.open(
            "orders",
            Demand.exclusive(),
            OPTIONS,
            tickets.origin("thread", Optional.empty(), List.of()),
            TicketUser.NOBODY,
            0);

    public LeaseUseModelTest() {
        kept.ticket().granted(1, TTL, 0);
    }

    @Operation(runOnce = true)
    public void leaseBegins() {
        leases.open(
                kept, new NoGate(), OPTIONS, "thread", telemetry.begin("orders", Demand.exclusive()), clock.nanoTime());
    }

    @Operation(runOnce = true)
    public void storeLosesTheTicket() {
        kept.ticket().gone(LossReason.GONE, "the store has lost it");
    }

    @Validate
    public void nothingIsKeptThatHasEnded() {
        if (kept.ticket().state() == Ticket.State.ENDED && !keeper.isEmpty()) {
            throw new IllegalStateException("the ticket has ended and is kept for ever");
        }
    }

    @Test
    void keepsNoTicketThatEndsMeanwhile() {
        new ModelCheckingOptions()
                .iterations(4)
                .invocationsPerIteration(500)
                .threads(2)
                .actorsPerThread(1)
                .actorsBefore(0)
                .actorsAfter(0)
                .addGuarantee(forClasses(name -> name.startsWith("java.util."))
                        .allMethods()
                        .treatAsAtomic())
                .check(LeaseUseModelTest.class);
    }

    private StoreContext.Alarm at(long nanos, Runnable task) {
        return () -> {};
    }

    private static final class NoGate implements InsideGate {

        @Override
        public void leave() {}

        @Override
        public boolean handOn(KeptTicket ticket) {
            return false;
        }

        @Override
        public InsideGate asShared() {
            return this;
        }
    }

    private static final class StoppedClock implements TimeSource {

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            throw new UnsupportedOperationException("nobody waits here");
        }
    }
}
