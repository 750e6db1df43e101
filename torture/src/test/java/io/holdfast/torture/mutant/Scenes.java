package io.holdfast.torture.mutant;

import static io.holdfast.torture.mutant.Actor.fixed;
import static io.holdfast.torture.mutant.Actor.renewed;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.ReleaseResult;
import io.holdfast.torture.history.RecordedLease;
import io.holdfast.torture.mutant.Actor.Waiting;
import io.holdfast.torture.mutant.Wire.Message;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Interleavings in which a flaw shows. Played without the flaw, they break no promise. */
final class Scenes {

    static final Duration SHORT = Duration.ofMillis(500);
    /** Long enough that a busy machine does not let a lease expire that ought to be renewed. */
    static final Duration PATIENT = Duration.ofSeconds(3);

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
        late.wire().holdRequests(Message.RELEASE);
        RecordedLease first = late.acquire(fixed(SHORT));
        CompletableFuture<ReleaseResult> release = CompletableFuture.supplyAsync(first::release);
        Waiting second = stage.actor("second").wait(fixed(LONG));
        Waiting third = stage.actor("third").wait(fixed(LONG));
        RecordedLease held = second.get();
        late.wire().deliver();
        release.join();
        await().until(() -> late.wire().answered(Message.RELEASE) > 0);
        third.getWithin(SHORT);
        endBoth(held, third);
    }

    /** The same with a renewal. */
    static void aRenewalArrivesLate(Stage stage) throws Exception {
        Actor late = stage.actor("late");
        late.wire().holdRequests(Message.RENEW);
        Duration ttl = Duration.ofSeconds(5); // in which a renewal is surely sent
        late.acquire(renewed(ttl));
        Waiting second = stage.actor("second").wait(fixed(LONG));
        Waiting third = stage.actor("third").wait(fixed(LONG));
        RecordedLease held = second.get();
        late.wire().deliver();
        await().until(() -> late.wire().answered(Message.RENEW) > 0);
        third.getWithin(ttl.plus(SHORT));
        endBoth(held, third);
    }

    /** A grant arrives when another already holds the lock. */
    static void aGrantArrivesLate(Stage stage) throws Exception {
        Actor late = stage.actor("late");
        late.wire().holdReplies(Message.ASK);
        Waiting first = late.ask(Demand.exclusive(), fixed(SHORT));
        await().until(() -> stage.store().hasGranted());
        RecordedLease held = stage.actor("next").wait(fixed(LONG)).get();
        late.wire().deliver();
        Optional<RecordedLease> taken = first.getWithin(PATIENT);
        held.checkValid();
        held.release();
        taken.ifPresent(RecordedLease::release);
    }

    /** The holder keeps the lock for as long as it believes in it; its clock may be slow. */
    static void aHolderLetsItsLeaseRunOut(Stage stage) throws Exception {
        Actor slow = stage.actorWithItsOwnClock("slow");
        RecordedLease lease = slow.acquire(fixed(PATIENT));
        RecordedLease successor = stage.actor("next").wait(fixed(LONG)).get();
        lease.checkValid();
        lease.release();
        successor.release();
    }

    /** A holder is cut off and goes on for as long as it believes in its lease. */
    static void aHolderIsCutOff(Stage stage) throws Exception {
        Actor alone = stage.actor("alone");
        RecordedLease lease = alone.acquire(renewed(PATIENT));
        alone.wire().cut();
        Waiting next = stage.actor("next").wait(fixed(LONG));
        RecordedLease successor = next.get();
        lease.release();
        successor.release();
    }

    /** A holder is cut off for good, and somebody waits. */
    static void aHolderDies(Stage stage) throws Exception {
        Actor dead = stage.actor("dead");
        dead.acquire(renewed(SHORT));
        Waiting next = stage.actor("next").wait(fixed(LONG));
        dead.wire().cut();
        serveOrGiveUp(next);
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
        RecordedLease lease = holder.acquire(renewed(PATIENT.multipliedBy(4)));
        stage.store().restart();
        Waiting next = other.wait(fixed(LONG));
        next.getWithin(SHORT);
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
        Waiting first = earlier.wait(renewed(PATIENT));
        Waiting second = stage.actor("later").wait(renewed(PATIENT));
        CompletableFuture<Void> firstTurn = first.recorded().thenAccept(RecordedLease::release);
        CompletableFuture<Void> secondTurn = second.recorded().thenAccept(RecordedLease::release);
        lease.release();
        second.get();
        secondTurn.join();
        int beats = earlier.wire().answered(Message.RENEW);
        await().until(() -> firstTurn.isDone() || earlier.wire().answered(Message.RENEW) > beats + 1);
        if (!first.recorded().isDone()) {
            first.giveUp();
        }
        firstTurn.exceptionally(gaveUp -> null).join();
    }

    static void oneWaitsInLine(Stage stage) throws Exception {
        RecordedLease lease = stage.actor("holder").acquire(fixed(LONG));
        Waiting waiting = stage.actor("waiter").wait(renewed(SHORT));
        lease.release();
        serveOrGiveUp(waiting);
    }

    static void oneAsksWhileAnotherHolds(Stage stage) throws Exception {
        RecordedLease lease = stage.actor("holder").acquire(fixed(LONG));
        Waiting next = stage.actor("next").wait(fixed(LONG));
        next.getWithin(SHORT);
        endBoth(lease, next);
    }

    static void aReaderAsksWhileAWriterHolds(Stage stage) throws Exception {
        RecordedLease lease = stage.actor("writer").acquire(fixed(LONG));
        Waiting next = stage.actor("reader").wait(Demand.shared(), fixed(LONG));
        next.getWithin(SHORT);
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
        three.getWithin(SHORT);
        endBoth(one, three);
        two.release();
    }

    static void aWaiterGivesUp(Stage stage) throws Exception {
        RecordedLease lease = stage.actor("holder").acquire(fixed(LONG));
        stage.actor("waiter").wait(fixed(LONG)).giveUp();
        stage.store().awaitWithdrawal();
        lease.release();
    }

    /** Waits for longer than a lock may stay unserved. */
    private static void serveOrGiveUp(Waiting waiting) {
        Optional<RecordedLease> served = waiting.getWithin(MutantsTest.PROGRESS_WITHIN.plusSeconds(1));
        if (served.isEmpty()) {
            waiting.giveUp();
        }
        served.ifPresent(RecordedLease::release);
    }

    private static void endBoth(RecordedLease held, Waiting next) {
        held.checkValid();
        held.release();
        next.get().release();
    }
}
