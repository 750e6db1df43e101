package io.holdfast.file;

import static io.holdfast.file.StoreClient.TTL;
import static io.holdfast.file.StoreClient.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.file.RecordedTicket.Told;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.Withdrawal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.io.TempDir;

/** One client, or two in one JVM. */
@Timeout(60)
class FileStoreTest {

    private static final Duration SHORT = Duration.ofMillis(150);

    @TempDir
    Path directory;

    private StoreClient one;
    private StoreClient two;

    @BeforeEach
    void open() {
        one = new StoreClient(directory, "one");
        two = new StoreClient(directory, "two");
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
    }

    @Test
    void clientsOfOneJvmExcludeEachOther() {
        RecordedTicket grant = one.take("job");

        assertThat(two.tryTake("job")).isEmpty();
        assertThat(one.tryTake("job")).isEmpty();

        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(two.take("job").token()).isGreaterThan(grant.token());
    }

    @Test
    void aRefusalNamesTheHolderAndItsTimeLeft() {
        one.take("job");

        Refusal refusal = two.refusal("job");

        assertThat(refusal.reason())
                .contains("one", "pid " + ProcessHandle.current().pid());
        assertThat(refusal.holderTimeLeft())
                .hasValueSatisfying(left -> assertThat(left).isBetween(Duration.ofSeconds(30), TTL));
    }

    @Test
    void differentNamesAreDifferentLocks() {
        List<String> names = List.of(
                "job",
                "Job",
                "job ",
                "a",
                "a/b",
                "a%2Fb",
                "{a}",
                "..",
                "\uD83D\uDD12",
                "x".repeat(512),
                "x".repeat(511) + "y");

        names.forEach(one::take);

        assertThat(two.views("")).extracting(LockView::name).containsExactlyInAnyOrderElementsOf(names);
        assertThat(two.views("x")).hasSize(2);
        assertThat(names).allSatisfy(name -> assertThat(two.tryTake(name)).isEmpty());
    }

    @Test
    void ticketsAreServedInOrderOfArrivalAcrossClients() {
        RecordedTicket first = one.take("job");
        List<RecordedTicket> queue = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            queue.add((i % 2 == 0 ? two : one).queue("job"));
        }

        one.release(first);

        long last = first.token();
        for (int i = 0; i < queue.size(); i++) {
            RecordedTicket grant = queue.get(i).outcome().join();
            assertThat(grant.token()).isGreaterThan(last);
            assertThat(queue.stream().skip(i + 1))
                    .noneMatch(later -> later.outcome().isDone());
            last = grant.token();
            (i % 2 == 0 ? two : one).release(grant);
        }
    }

    @Test
    void aTryDoesNotOvertakeTheQueue() {
        RecordedTicket reader = one.take("job", Demand.shared(), TTL);
        one.queue("job", Demand.exclusive(), TTL);

        assertThat(two.tryTake("job", Demand.shared(), TTL)).isEmpty();
        assertThat(one.view("job").waiters()).hasSize(1);
        one.release(reader);
    }

    @Test
    void aPushedGrantCountsFromTheLastAnsweredHeartbeat() {
        RecordedTicket first = one.take("job");
        RecordedTicket waiting = two.queue("job");
        long queuedNanos = waiting.ticket().baseNanos();
        assertThat(two.renew(waiting)).isEqualTo(Told.KEPT);
        long heartbeatNanos = waiting.ticket().baseNanos();

        one.release(first);

        assertThat(waiting.outcome().join().ticket().baseNanos()).isEqualTo(heartbeatNanos);
        assertThat(heartbeatNanos).isGreaterThan(queuedNanos);
    }

    @Test
    void aWithdrawnTicketIsPassedOver() {
        RecordedTicket first = one.take("job");
        RecordedTicket leaving = two.queue("job");
        RecordedTicket staying = two.queue("job");

        assertThat(two.withdraw(leaving)).isEqualTo(Withdrawal.REMOVED);
        assertThat(two.withdraw(leaving)).isEqualTo(Withdrawal.NOT_FOUND);
        one.release(first);

        staying.outcome().join();
        assertThat(leaving.token()).isEqualTo(Tokens.NONE);
    }

    @Test
    void aTicketWithoutHeartbeatLosesItsPlace() {
        RecordedTicket first = one.take("job");
        RecordedTicket forgotten = two.queue("job", Demand.exclusive(), SHORT);

        assertThat(forgotten.outcome()).failsWithin(Duration.ofSeconds(20));
        one.release(first);
        assertThat(one.view("job").waiters()).isEmpty();
    }

    @Test
    void readersShareAndAWriterWaitsForAllOfThem() {
        RecordedTicket reader = one.take("job", Demand.shared(), TTL);
        RecordedTicket other = two.take("job", Demand.shared(), TTL);
        RecordedTicket writer = one.queue("job");
        RecordedTicket late = two.queue("job", Demand.shared(), TTL);

        assertThat(reader.token()).isNotEqualTo(other.token());
        one.release(reader);
        assertThat(writer.outcome()).isNotDone();
        two.release(other);
        RecordedTicket written = writer.outcome().join();
        assertThat(late.outcome()).isNotDone();

        one.store.downgrade(written.ticket(), soon());
        assertThat(written.ticket().demand()).isEqualTo(Demand.shared());
        assertThat(late.outcome().join().token()).isGreaterThan(written.token());
        assertThat(one.view("job").holders())
                .extracting(LockView.Holder::demand)
                .containsOnly(Demand.shared());
    }

    @Test
    void aLostGrantCannotBeDowngraded() {
        RecordedTicket grant = one.take("job");
        one.release(grant);

        RecordedTicket late = grant.anew();
        one.store.downgrade(late.ticket(), soon());

        assertThat(late.told()).isEqualTo(Told.GONE);
        assertThat(late.ticket().demand()).isEqualTo(Demand.exclusive());
    }

    @Test
    void permitsAddUpToTheirTotal() {
        RecordedTicket three = one.take("pool", Demand.permits(3, 5), TTL);
        two.take("pool", Demand.permits(2, 5), TTL);
        RecordedTicket waiting = two.queue("pool", Demand.permits(1, 5), TTL);

        assertThat(waiting.outcome()).isNotDone();
        one.release(three);
        waiting.outcome().join();
    }

    @Test
    void anExpiredGrantPassesOnAndItsOwnerCanNeitherRenewNorRelease() {
        RecordedTicket expiring = one.take("job", Demand.exclusive(), SHORT);
        RecordedTicket next = two.want("job", TTL).join();

        assertThat(next.token()).isGreaterThan(expiring.token());
        assertThat(System.nanoTime()).isGreaterThanOrEqualTo(expiring.ticket().baseNanos() + SHORT.toNanos());
        assertThat(one.renew(expiring)).isEqualTo(Told.GONE);
        assertThat(one.release(expiring)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(two.renew(next)).isEqualTo(Told.KEPT);
    }

    @Test
    void anExpiredGrantIsNotRevivedEvenIfNobodyTookIt() {
        RecordedTicket expiring = one.take("job", Demand.exclusive(), Duration.ofMillis(20));
        await().until(() -> System.nanoTime() - expiring.ticket().baseNanos()
                > Duration.ofMillis(20).toNanos());

        assertThat(one.renew(expiring)).isEqualTo(Told.GONE);
    }

    @Test
    void renewalNeverShortens() {
        RecordedTicket grant = one.take("job");

        RecordedTicket extended = grant.anew();
        one.store.extend(extended.ticket(), Duration.ofMillis(1), soon());

        assertThat(extended.told()).isEqualTo(Told.GRANTED);
        assertThat(extended.ticket().endNanos()).isEqualTo(grant.ticket().endNanos());
        assertThat(one.renew(grant)).isEqualTo(Told.KEPT);
    }

    @Test
    void aLingeringLockStaysTakenByNobodyForAWhile() {
        RecordedTicket grant = one.take("job");
        long before = System.nanoTime();

        assertThat(one.release(grant, SHORT, soon())).isEqualTo(ReleaseAnswer.RELEASED);

        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(one.withdraw(grant)).isEqualTo(Withdrawal.NOT_FOUND);
        assertThat(one.renew(grant.anew())).isEqualTo(Told.GONE);
        two.want("job", TTL).join();
        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(SHORT.toNanos());
    }

    @Test
    void aForcedReleaseLetsTheNextInAndTellsTheHolder() {
        RecordedTicket grant = one.take("job");
        RecordedTicket next = two.queue("job");

        assertThat(two.store.forceRelease("job", soon())).isEqualTo(1);

        assertThat(next.outcome().join().token()).isGreaterThan(grant.token());
        await().until(() -> one.losses.get(grant.ticket().owner()) == LossReason.FORCED);
        assertThat(two.losses).isEmpty();
        assertThat(one.renew(grant.anew())).isEqualTo(Told.GONE);
    }

    @Test
    void aRaisedTokenIsTheFloorOfAllLaterOnes() {
        long floor = Table.clockMicros() + Duration.ofDays(1).toNanos() / 1000;

        one.store.raise("job", floor, soon());

        RecordedTicket first = two.take("job");
        two.release(first);
        assertThat(first.token()).isEqualTo(floor + 1);
        assertThat(one.take("job").token()).isEqualTo(floor + 2);
    }

    @Test
    void lookingAtALockLeavesNoFile() throws IOException {
        assertThat(one.view("job").isHeld()).isFalse();
        assertThat(one.views("")).isEmpty();

        assertThat(lockFiles()).isEmpty();
    }

    @Test
    void aViewShowsHolderTokenAndWaiters() {
        RecordedTicket grant = one.take("job");
        two.queue("job", Demand.shared(), TTL);

        LockView view = two.view("job");

        assertThat(view.holders()).singleElement().satisfies(holder -> {
            assertThat(holder.origin()).contains(grant.ticket().origin());
            assertThat(holder.token()).contains(grant.token());
            assertThat(holder.timeLeft()).isPresent();
            assertThat(holder.since()).isPresent();
        });
        assertThat(view.waiters())
                .singleElement()
                .satisfies(waiter -> assertThat(waiter.demand()).isEqualTo(Demand.shared()));
    }

    @Test
    void pruneRemovesOnlyIdleFiles() throws IOException {
        RecordedTicket idle = one.take("idle");
        one.take("held");
        one.release(idle);

        assertThat(two.store.prune(Duration.ofDays(1), soon())).isZero();
        assertThat(two.store.prune(Duration.ZERO, soon())).isEqualTo(1);

        assertThat(lockFiles()).containsExactly("held.lock");
        assertThat(one.take("idle").token()).isGreaterThan(idle.token());
        assertThat(two.tryTake("held")).isEmpty();
    }

    @Test
    void aCounterAheadOfTheClockIsNotPruned() {
        one.store.raise("job", Table.clockMicros() + 1_000_000_000L, soon());

        assertThat(one.store.prune(Duration.ZERO, soon())).isZero();
    }

    @Test
    void manyLocksDoNotUseUpFileDescriptors() throws IOException {
        List<RecordedTicket> grants = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            grants.add(one.take("lock-" + i));
        }

        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            assertThat(descriptors
                            .filter(descriptor -> isIn(directory, descriptor))
                            .count())
                    .isLessThan(200);
        }
        one.renew(grants);
        assertThat(grants).extracting(RecordedTicket::told).containsOnly(Told.KEPT);
        assertThat(grants).allSatisfy(grant -> assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED));
    }

    @Test
    void hundredsOfTicketsFitInOneQueue() {
        RecordedTicket first = one.take("job");
        List<RecordedTicket> queue = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            queue.add(two.queue("job"));
        }

        assertThat(one.view("job").waiters()).hasSize(500);
        one.release(first);
        for (RecordedTicket ticket : queue) {
            two.release(ticket.outcome().join());
        }
        assertThat(one.view("job")).isEqualTo(LockView.free("job"));
    }

    @Test
    void anInterruptedThreadLosesNothing() {
        Thread.currentThread().interrupt();
        RecordedTicket grant = one.take("job");

        assertThat(two.tryTake("job")).isEmpty();
        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aDeletedFileIsALossNotASecondLife() throws IOException {
        RecordedTicket grant = one.take("job");

        Files.delete(directory.resolve("job.lock"));

        assertThat(one.renew(grant)).isEqualTo(Told.GONE);
        assertThat(two.take("job").token()).isGreaterThan(grant.token());
    }

    @Test
    @Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
    void aDeletedDirectoryIsALossAndIsMadeAnew() throws IOException {
        Path locks = directory.resolve("locks");
        StoreClient client = new StoreClient(locks, "three");
        RecordedTicket grant = client.take("job");

        delete(locks);

        assertThat(client.renew(grant)).isEqualTo(Told.GONE);
        assertThat(client.take("job").token()).isGreaterThan(grant.token());
        client.close();
    }

    @Test
    @Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
    void anotherLockCanBeTakenInADeletedDirectoryAndItsHolderShowsThatItLives() throws IOException {
        Path locks = directory.resolve("locks");
        StoreClient client = new StoreClient(locks, "three");
        client.take("job");
        delete(locks);

        client.take("other");

        try (Stream<Path> files = Files.list(locks)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .contains("other.lock")
                    .anyMatch(name -> name.startsWith(".life-"));
        }
        client.close();
    }

    private static void delete(Path locks) throws IOException {
        try (Stream<Path> files = Files.list(locks)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(locks);
    }

    @Test
    void closingOneClientLeavesTheOtherItsLocksAndEndsTheThread() {
        RecordedTicket grant = two.take("job");
        one.take("other");

        one.close();

        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("holdfast-one-")));
        assertThat(two.renew(grant)).isEqualTo(Told.KEPT);
        assertThatThrownBy(() -> one.tryTake("job"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void theLastClientLeavesNothingButCounters() throws IOException {
        one.release(one.take("job"));

        one.close();
        two.close();

        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder(".holdfast", "job.lock");
        }
    }

    @Test
    void aNewDirectoryIsForItsUserAlone() throws IOException {
        Path fresh = directory.resolve("state/holdfast");
        try (StoreClient client = new StoreClient(fresh)) {
            client.take("job");

            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fresh)))
                    .isEqualTo("rwx------");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(fresh.resolve("job.lock"))))
                    .isEqualTo("rw-------");
        }
    }

    @Test
    void aDirectoryOfAGroupMakesFilesForTheGroup() throws IOException {
        Path group = Files.createDirectory(directory.resolve("group"));
        Files.setPosixFilePermissions(group, PosixFilePermissions.fromString("rwxrwx---"));
        try (StoreClient client = new StoreClient(group)) {
            client.take("job");

            try (Stream<Path> files = Files.list(group)) {
                assertThat(files)
                        .hasSize(3)
                        .allSatisfy(
                                file -> assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                                        .isEqualTo("rw-rw----"));
            }
        }
    }

    @Test
    void aDirectoryThatCannotBeMadeShowsWhenALockIsWanted() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        try (StoreClient client = new StoreClient(file.resolve("dir"))) {
            assertThatThrownBy(() -> client.tryTake("job"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(file.toString());
        }
    }

    private List<String> lockFiles() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(path -> path.getFileName().toString())
                    .filter(FileNames::isLockFile)
                    .toList();
        }
    }

    private static boolean isIn(Path directory, Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(directory.toRealPath());
        } catch (IOException e) {
            return false;
        }
    }
}
