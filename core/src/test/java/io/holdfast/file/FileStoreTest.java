package io.holdfast.file;

import static io.holdfast.file.StoreClient.TTL;
import static io.holdfast.file.StoreClient.soon;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LeaseLostException;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
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
        Grant grant = one.take("job");

        assertThat(two.attempt("job")).isInstanceOf(Answer.Refused.class);
        assertThat(one.attempt("job")).isInstanceOf(Answer.Refused.class);

        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(two.take("job").token()).isGreaterThan(grant.token());
    }

    @Test
    void aRefusalNamesTheHolderAndItsTimeLeft() {
        one.take("job");

        assertThat(two.attempt("job")).isInstanceOfSatisfying(Answer.Refused.class, refusal -> {
            assertThat(refusal.reason())
                    .contains("one", "pid " + ProcessHandle.current().pid());
            assertThat(refusal.holderTimeLeft())
                    .hasValueSatisfying(left -> assertThat(left).isBetween(Duration.ofSeconds(30), TTL));
        });
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

        assertThat(two.store.views("", soon())).extracting(LockView::name).containsExactlyInAnyOrderElementsOf(names);
        assertThat(two.store.views("x", soon())).hasSize(2);
        assertThat(names).allSatisfy(name -> assertThat(two.attempt(name)).isInstanceOf(Answer.Refused.class));
    }

    @Test
    void ticketsAreServedInOrderOfArrivalAcrossClients() {
        Grant first = one.take("job");
        List<StoreClient.Queued> line = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            line.add((i % 2 == 0 ? two : one).queue("job"));
        }

        one.release(first);

        long last = first.token();
        for (int i = 0; i < line.size(); i++) {
            Grant grant = line.get(i).outcome().join();
            assertThat(grant.token()).isGreaterThan(last);
            assertThat(line.stream().skip(i + 1))
                    .noneMatch(later -> later.outcome().isDone());
            last = grant.token();
            (i % 2 == 0 ? two : one).release(grant);
        }
    }

    @Test
    void anAttemptDoesNotOvertakeTheLine() {
        Grant reader = one.take("job", Demand.shared(), TTL);
        one.queue("job", Demand.exclusive(), TTL);

        assertThat(two.attempt("job", Demand.shared(), TTL)).isInstanceOf(Answer.Refused.class);
        assertThat(one.view("job").waiters()).hasSize(1);
        one.release(reader);
    }

    @Test
    void aPushedGrantCountsFromTheLastAnsweredHeartbeat() {
        Grant first = one.take("job");
        StoreClient.Queued waiting = two.queue("job");
        RenewalAnswer.Extended heartbeat = (RenewalAnswer.Extended) two.store
                .renew(List.of(new RenewalRequest(waiting.ticket(), TTL)), soon())
                .get(0);

        one.release(first);

        assertThat(waiting.outcome().join().baseNanos()).isEqualTo(heartbeat.baseNanos());
        assertThat(heartbeat.baseNanos()).isGreaterThan(waiting.ticket().baseNanos());
    }

    @Test
    void aWithdrawnTicketIsPassedOver() {
        Grant first = one.take("job");
        StoreClient.Queued leaving = two.queue("job");
        StoreClient.Queued staying = two.queue("job");

        assertThat(two.store.withdraw(leaving.request(), soon())).isEqualTo(Withdrawal.REMOVED);
        assertThat(two.store.withdraw(leaving.request(), soon())).isEqualTo(Withdrawal.NOT_FOUND);
        one.release(first);

        staying.outcome().join();
        assertThat(leaving.outcome()).isNotDone();
    }

    @Test
    void aTicketWithoutHeartbeatLosesItsPlace() {
        Grant first = one.take("job");
        StoreClient.Queued forgotten = two.queue("job", Demand.exclusive(), SHORT);

        assertThat(forgotten.outcome()).failsWithin(Duration.ofSeconds(20));
        one.release(first);
        assertThat(one.view("job").waiters()).isEmpty();
    }

    @Test
    void readersShareAndAWriterWaitsForAllOfThem() {
        Grant reader = one.take("job", Demand.shared(), TTL);
        Grant other = two.take("job", Demand.shared(), TTL);
        StoreClient.Queued writer = one.queue("job");
        StoreClient.Queued late = two.queue("job", Demand.shared(), TTL);

        assertThat(reader.token()).isNotEqualTo(other.token());
        one.release(reader);
        assertThat(writer.outcome()).isNotDone();
        two.release(other);
        Grant written = writer.outcome().join();
        assertThat(late.outcome()).isNotDone();

        one.store.downgrade(written, soon());
        assertThat(late.outcome().join().token()).isGreaterThan(written.token());
        assertThat(one.view("job").holders())
                .extracting(LockView.Holder::demand)
                .containsOnly(Demand.shared());
    }

    @Test
    void aLostGrantCannotBeDowngraded() {
        Grant grant = one.take("job");
        one.release(grant);

        assertThatThrownBy(() -> one.store.downgrade(grant, soon())).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void permitsAddUpToTheirTotal() {
        Grant three = one.take("pool", Demand.permits(3, 5), TTL);
        two.take("pool", Demand.permits(2, 5), TTL);
        StoreClient.Queued waiting = two.queue("pool", Demand.permits(1, 5), TTL);

        assertThat(waiting.outcome()).isNotDone();
        one.release(three);
        waiting.outcome().join();
    }

    @Test
    void anExpiredGrantPassesOnAndItsOwnerCanNeitherRenewNorRelease() {
        Grant expiring = one.take("job", Demand.exclusive(), SHORT);
        Grant next = two.want("job", TTL).join();

        assertThat(next.token()).isGreaterThan(expiring.token());
        assertThat(System.nanoTime()).isGreaterThanOrEqualTo(expiring.baseNanos() + SHORT.toNanos());
        assertThat(one.renew(expiring)).isInstanceOf(RenewalAnswer.Gone.class);
        assertThat(one.release(expiring)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(two.renew(next)).isInstanceOf(RenewalAnswer.Extended.class);
    }

    @Test
    void anExpiredGrantIsNotRevivedEvenIfNobodyTookIt() {
        Grant expiring = one.take("job", Demand.exclusive(), Duration.ofMillis(20));
        await().until(() ->
                System.nanoTime() - expiring.baseNanos() > Duration.ofMillis(20).toNanos());

        assertThat(one.renew(expiring)).isInstanceOf(RenewalAnswer.Gone.class);
    }

    @Test
    void renewalNeverShortens() {
        Grant grant = one.take("job");

        RenewalAnswer answer = one.store
                .renew(List.of(new RenewalRequest(grant, Duration.ofMillis(1))), soon())
                .get(0);

        assertThat(answer)
                .isInstanceOfSatisfying(
                        RenewalAnswer.Extended.class,
                        extended -> assertThat(
                                        extended.baseNanos() + extended.ttl().toNanos())
                                .isEqualTo(grant.baseNanos() + TTL.toNanos()));
    }

    @Test
    void aLingeringLockStaysTakenByNobodyForAWhile() {
        Grant grant = one.take("job");
        long before = System.nanoTime();

        assertThat(one.store.release(grant, SHORT, soon())).isEqualTo(ReleaseAnswer.RELEASED);

        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(one.store.withdraw(grant.request(), soon())).isEqualTo(Withdrawal.NOT_FOUND);
        assertThat(one.renew(grant)).isInstanceOf(RenewalAnswer.Gone.class);
        two.want("job", TTL).join();
        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(SHORT.toNanos());
    }

    @Test
    void aForcedReleaseLetsTheNextInAndTellsTheHolder() {
        Grant grant = one.take("job");
        StoreClient.Queued next = two.queue("job");

        assertThat(two.store.forceRelease("job", soon())).isEqualTo(1);

        assertThat(next.outcome().join().token()).isGreaterThan(grant.token());
        await().until(() -> one.losses.get(grant.request().owner()) == LossReason.FORCED);
        assertThat(two.losses).isEmpty();
        assertThat(one.renew(grant)).isInstanceOf(RenewalAnswer.Gone.class);
    }

    @Test
    void aRaisedTokenIsTheFloorOfAllLaterOnes() {
        long floor = Table.clockMicros() + Duration.ofDays(1).toNanos() / 1000;

        one.store.raise("job", floor, soon());

        Grant first = two.take("job");
        two.release(first);
        assertThat(first.token()).isEqualTo(floor + 1);
        assertThat(one.take("job").token()).isEqualTo(floor + 2);
    }

    @Test
    void lookingAtALockLeavesNoFile() throws IOException {
        assertThat(one.view("job").isHeld()).isFalse();
        assertThat(one.store.views("", soon())).isEmpty();

        assertThat(lockFiles()).isEmpty();
    }

    @Test
    void aViewShowsHolderTokenAndWaiters() {
        Grant grant = one.take("job");
        two.queue("job", Demand.shared(), TTL);

        LockView view = two.view("job");

        assertThat(view.holders()).singleElement().satisfies(holder -> {
            assertThat(holder.origin()).contains(grant.request().origin());
            assertThat(holder.token()).isEqualTo(grant.token() * 1024);
            assertThat(holder.timeLeft()).isPresent();
            assertThat(holder.since()).isPresent();
        });
        assertThat(view.waiters())
                .singleElement()
                .satisfies(waiter -> assertThat(waiter.demand()).isEqualTo(Demand.shared()));
    }

    @Test
    void pruneRemovesOnlyIdleFiles() throws IOException {
        Grant idle = one.take("idle");
        one.take("held");
        one.release(idle);

        assertThat(two.store.prune(Duration.ofDays(1), soon())).isZero();
        assertThat(two.store.prune(Duration.ZERO, soon())).isEqualTo(1);

        assertThat(lockFiles()).containsExactly("held.lock");
        assertThat(one.take("idle").token()).isGreaterThan(idle.token());
        assertThat(two.attempt("held")).isInstanceOf(Answer.Refused.class);
    }

    @Test
    void aCounterAheadOfTheClockIsNotPruned() {
        one.store.raise("job", Table.clockMicros() + 1_000_000_000L, soon());

        assertThat(one.store.prune(Duration.ZERO, soon())).isZero();
    }

    @Test
    void manyLocksDoNotUseUpFileDescriptors() throws IOException {
        List<Grant> grants = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            grants.add(one.take("lock-" + i));
        }

        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            assertThat(descriptors
                            .filter(descriptor -> isIn(directory, descriptor))
                            .count())
                    .isLessThan(200);
        }
        List<RenewalRequest> renewals =
                grants.stream().map(grant -> new RenewalRequest(grant, TTL)).toList();
        assertThat(one.store.renew(renewals, soon())).hasSize(1000).hasOnlyElementsOfType(RenewalAnswer.Extended.class);
        assertThat(grants).allSatisfy(grant -> assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED));
    }

    @Test
    void hundredsOfTicketsFitInOneLine() {
        Grant first = one.take("job");
        List<StoreClient.Queued> line = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            line.add(two.queue("job"));
        }

        assertThat(one.view("job").waiters()).hasSize(500);
        one.release(first);
        for (StoreClient.Queued ticket : line) {
            two.release(ticket.outcome().join());
        }
        assertThat(one.view("job")).isEqualTo(LockView.free("job"));
    }

    @Test
    void anInterruptedThreadLosesNothing() {
        Thread.currentThread().interrupt();
        Grant grant = one.take("job");

        assertThat(two.attempt("job")).isInstanceOf(Answer.Refused.class);
        assertThat(one.release(grant)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void aDeletedFileIsALossNotASecondLife() throws IOException {
        Grant grant = one.take("job");

        Files.delete(directory.resolve("job.lock"));

        assertThat(one.renew(grant)).isInstanceOf(RenewalAnswer.Gone.class);
        assertThat(two.take("job").token()).isGreaterThan(grant.token());
    }

    @Test
    void closingOneClientLeavesTheOtherItsLocksAndEndsTheThread() {
        Grant grant = two.take("job");
        one.take("other");

        one.close();

        await().until(() -> Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("holdfast-one-")));
        assertThat(two.renew(grant)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThatThrownBy(() -> one.attempt("job"))
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
            assertThatThrownBy(() -> client.attempt("job"))
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
