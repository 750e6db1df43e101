package io.holdfast.internal;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Explores interleavings of the timer, a renewal's answer and a holder that looks, at the end of a lease: one of each, which
 * is little enough to try them all. A lease that has neither ended nor is kept shows when the clock has moved on.
 */
@DisplayName("The end of a lease, over all interleavings the model checker finds")
public class KeeperModelTest {

    private static final long START = 0;
    private static final long END = 10;
    private static final long EXTENDED_END = 20;
    private static final long AFTER_ALL = 1_000;

    private final ConcurrentLinkedQueue<Runnable> alarms = new ConcurrentLinkedQueue<>();
    private final Clock clock = new Clock();
    private final Keeper keeper = new Keeper(
            MemoryStore.unnamed()
                    .open(new StoreContext(
                            "client", "client", clock, this::at, Runnable::run, (owner, reason, detail) -> {})),
            clock,
            this::at,
            new Lanes("model-"),
            Duration.ofSeconds(1),
            () -> {});
    private final Claim claim = new Claim();
    private volatile boolean validAgain;

    public KeeperModelTest() {
        keeper.keep(claim);
    }

    @Operation(runOnce = true)
    public void timerRings() {
        clock.pass(END);
        ringOnce();
    }

    @Operation(runOnce = true)
    public void renewalIsAnswered() {
        claim.end.extendTo(EXTENDED_END);
    }

    @Operation(runOnce = true)
    public void holderLooksTwice() {
        clock.pass(END);
        boolean first = isValid();
        validAgain = isValid() && !first;
    }

    private boolean isValid() {
        return claim.state.isHeld() && !claim.end.hasPassed(clock.nanoTime());
    }

    @Validate
    public void leaseHasEndedOnceAndNothingIsKept() {
        clock.pass(AFTER_ALL);
        while (!alarms.isEmpty()) {
            ringOnce();
        }
        LeaseState.State state = claim.state.get();
        int expectedTold = state == LeaseState.State.LOST ? 1 : 0;
        if (state == LeaseState.State.HELD || claim.told.get() != expectedTold || !keeper.isEmpty() || validAgain) {
            throw new IllegalStateException("the lease is " + state + ", its holder was told " + claim.told
                    + " times, kept: " + !keeper.isEmpty() + ", valid again: " + validAgain);
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

    /** What a lease and its grant do at the keeper, without the client around them. */
    private final class Claim implements Kept {

        private final OwnerId owner = new OwnerId("client", 1);
        private final LeaseState state = new LeaseState();
        private final LocalEnd end = new LocalEnd(END);
        private final AtomicInteger told = new AtomicInteger();

        @Override
        public void ended() {
            if (end.hasPassed(clock.nanoTime()) && state.lose()) {
                told.incrementAndGet();
                keeper.drop(this);
            }
        }

        @Override
        public OwnerId owner() {
            return owner;
        }

        @Override
        public String lane() {
            return "";
        }

        @Override
        public long dueNanos() {
            return AFTER_ALL;
        }

        @Override
        public long endNanos() {
            return end.nanos();
        }

        @Override
        public long slackNanos() {
            return 1;
        }

        @Override
        public boolean beginRequest() {
            return false;
        }

        @Override
        public void finishRequest() {
            throw new UnsupportedOperationException();
        }

        @Override
        public RenewalRequest renewalRequest() {
            throw new UnsupportedOperationException();
        }

        @Override
        public void extended(RenewalAnswer.Extended answer) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void failing(LockException cause) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean gone(LossReason reason, String detail) {
            throw new UnsupportedOperationException();
        }
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
