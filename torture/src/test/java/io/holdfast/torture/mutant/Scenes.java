package io.holdfast.torture.mutant;

import static io.holdfast.torture.mutant.Actor.fixed;
import static io.holdfast.torture.mutant.Actor.renewed;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.torture.history.RecordedLease;
import io.holdfast.torture.mutant.Actor.Waiting;
import io.holdfast.torture.mutant.Wire.Message;
import java.time.Duration;
import java.util.Optional;

/** Interleavings in which a flaw shows. Played without the flaw, they break no promise. */
final class Scenes {

    static final Duration SHORT = Duration.ofMillis(500);
    static final Duration LONG = Duration.ofSeconds(20);

    private Scenes() {}

    /** A scene. */
    @FunctionalInterface
    interface Scene {
        void play(Stage stage) throws Exception;
    }

    /** The release of the first is so slow that the second holds the lock when it arrives, and a third waits. */
    static void aReleaseArrivesLate(Stage stage) throws Exception {
        Actor late = stage.actor("late");
        late.wire().delayRequests(Message.RELEASE, SHORT.multipliedBy(2));
        RecordedLease first = late.acquire(fixed(SHORT));
        Waiting second = stage.actor("second").wait(fixed(LONG));
        Waiting third = stage.actor("third").wait(fixed(LONG));
        first.release();
        RecordedLease held = second.get();
        await().until(() -> late.wire().answered(Message.RELEASE) > 0);
        third.getWithin(SHORT.dividedBy(2));
        endBoth(held, third);
    }

    /** The same with a renewal. */
    static void aRenewalArrivesLate(Stage stage) throws Exception {
        Actor late = stage.actor("late");
        late.wire().delayRequests(Message.RENEW, SHORT.multipliedBy(2));
        late.acquire(renewed(SHORT));
        Waiting second = stage.actor("second").wait(fixed(LONG));
        Waiting third = stage.actor("third").wait(fixed(LONG));
        RecordedLease held = second.get();
        await().until(() -> late.wire().answered(Message.RENEW) > 0);
        third.getWithin(SHORT.multipliedBy(2));
        endBoth(held, third);
    }

    /** A grant takes half its ttl to arrive; its holder keeps it for as long as it believes in it. */
    static void aGrantArrivesLate(Stage stage) throws Exception {
        Actor late = stage.actor("late");
        Actor next = stage.actor("next");
        late.wire().delayReplies(Message.ASK, SHORT.dividedBy(2));
        holdUntilSucceeded(late.acquire(fixed(SHORT)), next.wait(fixed(LONG)));
    }

    /** The holder's clock may be slow; it keeps the lock for as long as it believes in it. */
    static void aHolderLetsItsLeaseRunOut(Stage stage) throws Exception {
        Actor slow = stage.actorWithItsOwnClock("slow");
        Actor next = stage.actor("next");
        holdUntilSucceeded(slow.acquire(fixed(SHORT)), next.wait(fixed(LONG)));
    }

    /** A holder is cut off and goes on for as long as it believes in its lease. */
    static void aHolderIsCutOff(Stage stage) throws Exception {
        Actor alone = stage.actor("alone");
        RecordedLease lease = alone.acquire(renewed(SHORT));
        Waiting next = stage.actor("next").wait(fixed(LONG));
        alone.wire().cut();
        Optional<RecordedLease> successor = next.getWithin(Duration.ofMillis(1_500));
        lease.release();
        if (successor.isEmpty()) {
            next.giveUp();
        }
        successor.ifPresent(RecordedLease::release);
    }

    static void theStoreRestartsBetweenTwoHolders(Stage stage) throws Exception {
        Actor one = stage.actor("one");
        one.acquire(fixed(SHORT)).release();
        one.acquire(fixed(SHORT)).release();
        stage.store().restart();
        stage.actor("other").acquire(fixed(SHORT)).release();
    }

    static void theStoreRestartsUnderAHolder(Stage stage) throws Exception {
        Actor holder = stage.actor("holder");
        Actor other = stage.actor("other");
        RecordedLease lease = holder.acquire(renewed(SHORT.multipliedBy(3)));
        stage.store().restart();
        Waiting next = other.wait(fixed(LONG));
        next.getWithin(SHORT.dividedBy(5));
        lease.checkValid();
        await().until(() -> holder.wire().answered(Message.RENEW) > 0);
        endBoth(lease, next);
    }

    /** The first holder reads, sleeps through its lease, and writes after its successor has read. */
    static void aWriteArrivesBetweenReadAndWriteOfTheNextHolder(Stage stage) throws Exception {
        Actor stale = stage.actor("stale");
        Actor next = stage.actor("next");
        RecordedLease first = stale.acquire(fixed(SHORT));
        String seen = stale.read(first).orElseThrow();
        RecordedLease second = next.wait(fixed(LONG)).get();
        String seenByNext = next.read(second).orElseThrow();
        stale.write(first, seen);
        next.write(second, seenByNext);
        first.release();
        second.release();
    }

    /** The first holder reads, sleeps through its lease, and writes after its successor has done both. */
    static void aWriteArrivesAfterTheNextHolders(Stage stage) throws Exception {
        Actor stale = stage.actor("stale");
        Actor next = stage.actor("next");
        RecordedLease first = stale.acquire(fixed(SHORT));
        String seen = stale.read(first).orElseThrow();
        RecordedLease second = next.wait(fixed(LONG)).get();
        next.write(second, next.read(second).orElseThrow());
        stale.write(first, seen);
        first.release();
        second.release();
    }

    /** Two wait in line behind a holder; each releases as soon as it has the lock. */
    static void twoWaitInLine(Stage stage) throws Exception {
        RecordedLease lease = stage.actor("holder").acquire(fixed(LONG));
        Actor earlier = stage.actor("earlier");
        Waiting first = earlier.wait(renewed(SHORT));
        Waiting second = stage.actor("later").wait(renewed(SHORT));
        first.recorded().thenAccept(RecordedLease::release);
        second.recorded().thenAccept(RecordedLease::release);
        lease.release();
        second.get();
        int beats = earlier.wire().answered(Message.RENEW);
        await().until(() -> first.recorded().isDone() || earlier.wire().answered(Message.RENEW) > beats + 1);
        if (!first.recorded().isDone()) {
            first.giveUp();
        }
    }

    static void oneWaitsInLine(Stage stage) throws Exception {
        RecordedLease lease = stage.actor("holder").acquire(fixed(LONG));
        Waiting waiting = stage.actor("waiter").wait(renewed(SHORT));
        lease.release();
        Optional<RecordedLease> served = waiting.getWithin(Duration.ofMillis(1_500));
        if (served.isEmpty()) {
            waiting.giveUp();
        }
        served.ifPresent(RecordedLease::release);
    }

    static void oneAsksWhileAnotherHolds(Stage stage) throws Exception {
        RecordedLease lease = stage.actor("holder").acquire(fixed(LONG));
        Waiting next = stage.actor("next").wait(fixed(LONG));
        next.getWithin(Duration.ofMillis(50));
        endBoth(lease, next);
    }

    static void aReaderAsksWhileAWriterHolds(Stage stage) throws Exception {
        RecordedLease lease = stage.actor("writer").acquire(fixed(LONG));
        Waiting next = stage.actor("reader").wait(Demand.shared(), fixed(LONG));
        next.getWithin(Duration.ofMillis(50));
        endBoth(lease, next);
    }

    static void twoReaders(Stage stage) throws Exception {
        RecordedLease one = stage.actor("one").acquire(Demand.shared(), fixed(LONG));
        RecordedLease other = stage.actor("other").acquire(Demand.shared(), fixed(LONG));
        one.release();
        other.release();
    }

    static void threeWantOneOfTwoPermits(Stage stage) throws Exception {
        RecordedLease one = stage.actor("one").acquire(Demand.permits(1, 2), fixed(LONG));
        RecordedLease two = stage.actor("two").acquire(Demand.permits(1, 2), fixed(LONG));
        Waiting three = stage.actor("three").wait(Demand.permits(1, 2), fixed(LONG));
        three.getWithin(Duration.ofMillis(50));
        endBoth(one, three);
        two.release();
    }

    static void aWaiterGivesUp(Stage stage) throws Exception {
        RecordedLease lease = stage.actor("holder").acquire(fixed(LONG));
        stage.actor("waiter").wait(fixed(SHORT)).giveUp();
        lease.release();
        Wire.take(SHORT.multipliedBy(2));
    }

    private static void holdUntilSucceeded(RecordedLease lease, Waiting next) {
        RecordedLease successor = next.get();
        lease.checkValid();
        lease.release();
        successor.release();
    }

    private static void endBoth(RecordedLease held, Waiting next) {
        held.checkValid();
        held.release();
        next.get().release();
    }
}
