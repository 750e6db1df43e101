package io.holdfast.file;

import static io.holdfast.file.StoreClient.TTL;
import static io.holdfast.file.StoreClient.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.Fairness;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.TimeWithin;
import io.holdfast.file.RecordedTicket.Told;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Real processes, killed and stopped. */
@Timeout(120)
class SeparateProcessesTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private Path locks;
    private StoreClient here;
    private final List<ChildProcess> children = new ArrayList<>();

    @BeforeEach
    void open() {
        locks = directory.resolve("locks");
        here = new StoreClient(locks, "here");
    }

    @AfterEach
    void close() throws IOException, InterruptedException {
        here.close();
        for (ChildProcess child : children) {
            child.close();
        }
    }

    private ChildProcess child() throws IOException {
        ChildProcess child = ChildProcess.start(locks);
        children.add(child);
        return child;
    }

    @Test
    void p1ProcessesExcludeEachOtherAndTokensGrowInOrderOfHolding() throws IOException {
        countWith(4, 250);
    }

    /** No ticket is renewed here: a waiter that is not told in time loses its place, and the child fails. */
    @Test
    void p6EveryWaiterOfTwoContendingProcessesIsTold() throws IOException {
        ChildProcess one = child();
        ChildProcess other = child();

        one.say("churn job 2000");
        other.say("churn job 2000");

        assertThat(one.hear()).isEqualTo("churned");
        assertThat(other.hear()).isEqualTo("churned");
    }

    @Test
    @Tag("full")
    @Timeout(600)
    void p1FiftyProcessesExcludeEachOther() throws IOException {
        countWith(50, 20);
    }

    private void countWith(int processes, int times) throws IOException {
        Path number = Files.writeString(directory.resolve("number"), "0");
        Files.createFile(directory.resolve("tokens"));
        List<ChildProcess> counting = new ArrayList<>();
        for (int i = 0; i < processes; i++) {
            counting.add(child());
        }
        for (ChildProcess child : counting) {
            child.say("count counter " + number + " " + times);
        }
        for (ChildProcess child : counting) {
            assertThat(child.hear()).isEqualTo("counted");
        }

        assertThat(number).hasContent(Integer.toString(processes * times));
        List<Long> tokens = Files.readAllLines(directory.resolve("tokens")).stream()
                .map(Long::valueOf)
                .toList();
        assertThat(tokens).isSorted().doesNotHaveDuplicates().hasSize(processes * times);
    }

    @Test
    void p4AKilledHolderFreesAtOnceAndTheNextIsLetIn() throws IOException {
        ChildProcess holder = child();
        assertThat(holder.ask("try job 3600000")).startsWith("granted");
        assertThat(here.tryTake("job")).isEmpty();
        RecordedTicket next = here.queue("job");

        holder.kill();

        assertThat(next.outcome()).succeedsWithin(PATIENCE);
    }

    @Test
    void p4AKilledHolderIsNotInTheWayOfAnAttempt() throws IOException, InterruptedException {
        ChildProcess holder = child();
        assertThat(holder.ask("try job 3600000")).startsWith("granted");

        holder.close();

        here.take("job");
    }

    @Test
    void p4KilledWaitersAreNotInTheWayOfTheNext() throws IOException, InterruptedException {
        RecordedTicket held = here.take("job");
        List<ChildProcess> ahead = List.of(child(), child());
        for (ChildProcess waiter : ahead) {
            assertThat(waiter.ask("queue job 3600000")).isEqualTo("queued");
        }
        RecordedTicket last = here.queue("job");
        for (ChildProcess waiter : ahead) {
            waiter.close();
        }

        here.release(held);

        assertThat(last.outcome()).succeedsWithin(PATIENCE);
    }

    @Test
    void p4ATicketThatWasLetInAfterItsProcessWasKilledPassesOn() throws IOException {
        ChildProcess waiter = child();
        RecordedTicket held = here.take("job");
        assertThat(waiter.ask("queue job 3600000")).isEqualTo("queued");
        RecordedTicket next = here.queue("job");

        waiter.kill();
        here.release(held);

        assertThat(next.outcome()).succeedsWithin(PATIENCE);
    }

    @Test
    void p1AStoppedHolderKeepsTheLockForItsTtlThenFindsOut() throws IOException, InterruptedException {
        ChildProcess holder = child();
        assertThat(holder.ask("holders job")).isEqualTo("0");
        long before = System.nanoTime();
        assertThat(holder.ask("try job 3000")).startsWith("granted");
        RecordedTicket next = here.queue("job");

        holder.stop();

        RecordedTicket grant = next.outcome().join();
        assertThat(System.nanoTime() - before)
                .isGreaterThanOrEqualTo(Duration.ofSeconds(3).toNanos());
        holder.resume();
        assertThat(holder.ask("renew job")).isEqualTo("GONE");
        assertThat(holder.ask("release job")).isEqualTo("NOT_HELD");
        assertThat(here.renew(grant)).isEqualTo(Told.KEPT);
    }

    @Test
    void p1LookingInTheHoldersJvmDoesNotDropTheLock() throws IOException {
        RecordedTicket held = here.take("job");
        String longName = "x".repeat(500);
        here.take(longName);
        for (int i = 0; i < 3; i++) {
            here.view("job");
            here.views("");
            here.store.prune(Duration.ZERO, soon());
            try (StoreClient passing = new StoreClient(locks, "passing")) {
                passing.view("job");
                assertThat(passing.tryTake("job")).isEmpty();
            }
        }
        ChildProcess other = child();

        assertThat(other.ask("holders job")).isEqualTo("1");
        assertThat(other.ask("try job 1000")).isEqualTo("refused");
        assertThat(other.ask("try " + longName + " 1000")).isEqualTo("refused");
        assertThat(here.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(other.ask("try job 1000")).startsWith("granted");
    }

    @Test
    void p1AnotherCopyOfTheLibraryInTheHoldersJvmDoesNotDropTheLock() throws Exception {
        here.take("job");
        ChildProcess other = child();
        try (URLClassLoader loader = OtherCopy.loader()) {
            assertThat(OtherCopy.in(loader).apply(locks, "look")).isEqualTo("1 1 refused");
        }

        assertThat(other.ask("try job 1000")).isEqualTo("refused");
    }

    /** A try is rehearsed before the guard is taken: what it would have come to then is not what it came to. */
    @Test
    void p1ATryForestalledByAnotherProcessTellsItsTicketOfNoGrant() throws IOException {
        here.release(here.take("job"));
        ChildProcess other = child();
        TimeWithin time = new TimeWithin("takeGuard");
        try (StoreClient slow = new StoreClient(locks, "slow", time)) {
            CompletableFuture<String> others = new CompletableFuture<>();
            time.onNextLook(() -> others.complete(askQuietly(other, "try job 60000")));

            assertThat(slow.tryTake("job")).isEmpty();
            assertThat(others).isCompletedWithValueMatching(answer -> answer.startsWith("granted"));
        }
    }

    private static String askQuietly(ChildProcess child, String command) {
        try {
            return child.ask(command);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void aProcessStoppedUnderTheGuardHoldsUpItsLockOnlyAndGrantsNothingTwice()
            throws IOException, InterruptedException {
        RecordedTicket held = here.take("job");
        ChildProcess stopped = child();
        assertThat(stopped.ask("jam job")).isEqualTo("jammed");
        Deadline brief = Deadline.after(TimeSource.system(), Duration.ofMillis(300));

        assertThatThrownBy(() -> here.release(held, Duration.ZERO, brief))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("guard");
        assertThat(here.tryTake("job")).isEmpty();
        assertThat(here.view("job").isHeld()).isTrue();
        here.release(here.take("other"));
        stopped.close();

        assertThat(here.renew(held.anew())).isEqualTo(Told.GRANTED);
        assertThat(here.tryTake("job")).isEmpty();
    }

    @Test
    void p9PruneLeavesOutALockWhoseGuardIsKeptAndKeepsNobodyFromOthers() throws IOException, InterruptedException {
        here.release(here.take("job"));
        ChildProcess stopped = child();
        assertThat(stopped.ask("jam job")).isEqualTo("jammed");
        ChildProcess pruning = child();

        pruning.say("prune");

        int asked = 0;
        do {
            Deadline brief = Deadline.after(TimeSource.system(), Duration.ofMillis(1500));
            assertThat(here.tryTake("never used before " + asked++, brief)).isPresent();
        } while (!pruning.hasAnswered());
        assertThat(pruning.hear()).isEqualTo("0");
        stopped.close();
        assertThat(pruning.ask("prune")).isEqualTo("1");
    }

    @Test
    void p7AGuardThatIsBusyForAMomentIsContentionAndOneThatStaysBusyIsTrouble()
            throws IOException, InterruptedException {
        here.release(here.take("job"));
        ChildProcess busy = child();
        assertThat(busy.ask("jam job")).isEqualTo("jammed");

        try (Holdfast holdfast = Holdfast.builder()
                .store(FileStore.in(locks))
                .requestTimeout(Duration.ofMillis(1500))
                .connect()) {
            assertThat(holdfast.lock("job").tryAcquire(Duration.ofMillis(2))).isEmpty();
            assertThat(holdfast.lock("job", LockOptions.defaults().withFairness(Fairness.BARGING))
                            .tryAcquire(Duration.ofMillis(2)))
                    .isEmpty();
            assertThatThrownBy(() -> holdfast.lock("job").acquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("guard");
        }
    }

    @Test
    void p1WithoutItsProofOfLifeAProcessIsNotTakenForDead() throws IOException, InterruptedException {
        ChildProcess holder = child();
        assertThat(holder.ask("try job 10000")).startsWith("granted");
        for (Path life : lives()) {
            Files.delete(life);
        }

        assertThat(here.tryTake("job")).isEmpty();
        holder.close();
        assertThat(here.tryTake("job")).isEmpty();
        assertThat(here.want("job", TTL)).succeedsWithin(PATIENCE);
    }

    @Test
    void p6TicketsOfSeveralProcessesAreServedInOrderOfArrival() throws IOException {
        List<ChildProcess> queue = List.of(child(), child(), child());
        RecordedTicket held = here.take("job");
        for (int i = 0; i < queue.size(); i++) {
            queue.get(i).say("want job 60000");
            int waiting = i + 1;
            await().atMost(PATIENCE).until(() -> here.view("job").waiters().size() == waiting);
        }

        here.release(held);

        for (int i = 0; i < queue.size(); i++) {
            assertThat(queue.get(i).hear()).startsWith("granted");
            for (ChildProcess later : queue.subList(i + 1, queue.size())) {
                assertThat(later.hasAnswered()).isFalse();
            }
            assertThat(queue.get(i).ask("release job")).isEqualTo("RELEASED");
        }
    }

    @Test
    void p1LingeringOutlivesItsProcess() throws IOException, InterruptedException {
        ChildProcess other = child();
        assertThat(other.ask("holders job")).isEqualTo("0");
        RecordedTicket held = here.take("job");
        long before = System.nanoTime();
        here.release(held, Duration.ofSeconds(4), soon());
        here.close();

        assertThat(other.ask("try job 1000")).isEqualTo("refused");
        assertThat(other.ask("want job 60000")).startsWith("granted");
        assertThat(System.nanoTime() - before)
                .isGreaterThanOrEqualTo(Duration.ofSeconds(4).toNanos());
    }

    @Test
    void aForcedReleaseReachesAHolderInAnotherProcess() throws IOException {
        ChildProcess holder = child();
        assertThat(holder.ask("try job 3600000")).startsWith("granted");

        assertThat(here.store.forceRelease("job", soon())).isEqualTo(1);

        here.take("job");
        await().untilAsserted(() -> assertThat(holder.ask("losses")).contains(LossReason.FORCED.name()));
    }

    @Test
    void killingAProcessAtAnyPointOfAnUpdateLeavesAReadableFile() throws IOException, InterruptedException {
        RecordedTicket held = here.take("warm-up");
        here.release(held);
        long lastToken = 0;
        for (int i = 0; i < 8; i++) {
            ChildProcess churning = child();
            assertThat(churning.ask("holders job")).isEqualTo("0");
            churning.say("churn job 1000000");
            CompletableFuture<RecordedTicket> seen = here.want("job", TTL);
            here.release(seen.join());
            long nanos = ThreadLocalRandom.current().nextLong(30_000_000);
            long until = System.nanoTime() + nanos;
            while (System.nanoTime() - until < 0) {
                Thread.onSpinWait();
            }
            churning.kill();

            RecordedTicket grant = here.want("job", TTL).join();
            assertThat(grant.token()).isGreaterThan(lastToken);
            lastToken = grant.token();
            here.release(grant);
            churning.close();
        }
    }

    @Test
    void pruningAndUsingAtTheSameTimeNeverGrantsTwice() throws IOException {
        Path number = Files.writeString(directory.resolve("number"), "0");
        Files.createFile(directory.resolve("tokens"));
        List<ChildProcess> counting = List.of(child(), child());
        ChildProcess pruning = child();
        int pruned = 0;
        int rounds = 0;
        do { // Once more if nothing was pruned beside the use: two who contend leave the lock free for moments only.
            rounds++;
            // One goes on when the other has ended, so that there is pruning beside use.
            counting.get(0).say("count counter " + number + " 200");
            counting.get(1).say("count counter " + number + " 400");
            while (!counting.get(0).hasAnswered() || !counting.get(1).hasAnswered()) {
                pruned += Integer.parseInt(pruning.ask("prune"));
                pruned += here.store.prune(Duration.ZERO, soon());
            }
            assertThat(counting.get(0).hear()).isEqualTo("counted");
            assertThat(counting.get(1).hear()).isEqualTo("counted");
        } while (pruned == 0 && rounds < 10);

        assertThat(number).hasContent(Integer.toString(600 * rounds));
        assertThat(new HashSet<>(Files.readAllLines(directory.resolve("tokens"))))
                .hasSize(600 * rounds);
        assertThat(pruned).as("files removed while in use by others").isPositive();
    }

    @Test
    void pruneRemovesWhatKilledProcessesLeft() throws IOException, InterruptedException {
        ChildProcess killed = child();
        assertThat(killed.ask("try job 3600000")).startsWith("granted");
        here.view("job");
        assertThat(lives()).hasSize(2);
        killed.close();

        assertThat(here.store.prune(Duration.ZERO, soon())).isEqualTo(1);

        assertThat(lives()).hasSize(1);
        here.take("job", Demand.exclusive(), TTL);
    }

    @Test
    void p8TriesOnAFullDiskLeaveNoFiles() throws IOException, InterruptedException {
        ChildProcess child = child();
        assertThat(child.ask("losses")).isEqualTo("[]");
        child.fillDisk();

        assertThat(child.ask("try job 3600000")).startsWith("failed");
        assertThat(child.ask("try job 3600000")).startsWith("failed");

        assertThat(locks).isEmptyDirectory();
        child.emptyDisk();
        assertThat(child.ask("try job 3600000")).startsWith("granted");
    }

    private List<Path> lives() throws IOException {
        try (Stream<Path> files = Files.list(locks)) {
            return files.filter(file -> file.getFileName().toString().startsWith(".life-"))
                    .toList();
        }
    }
}
