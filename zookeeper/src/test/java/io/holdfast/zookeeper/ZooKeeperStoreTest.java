package io.holdfast.zookeeper;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockView;
import io.holdfast.LossReason;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Grant;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Withdrawal;
import io.holdfast.zookeeper.StoreBench.Ears;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ZooKeeperStoreTest {

    private static final Duration TTL = Duration.ofSeconds(4);

    private static ZooKeeperServer server;
    private static ZooKeeper admin;

    private StoreBench bench;

    @BeforeAll
    static void startServer() throws Exception {
        server = TestServers.single();
        admin = TestServers.client(server.connectString());
    }

    @AfterAll
    static void stopServer() throws Exception {
        admin.close();
        server.close();
    }

    @BeforeEach
    void open() {
        bench = StoreBench.at(TestServers.uri(server.connectString()), TTL);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    @Test
    void aFreeLockIsGrantedAndAReleasedOneIsFree() throws Exception {
        Grant first = bench.acquire("orders");

        assertThat(first.ttl()).isEqualTo(TTL);
        assertThat(children("orders"))
                .singleElement()
                .asString()
                .startsWith("_c_")
                .contains("-lock-00000");
        assertThat(bench.attempt("orders")).isInstanceOf(Answer.Refused.class);
        assertThat(children("orders")).hasSize(1);
        assertThat(bench.store.release(first, Duration.ZERO, bench.soon())).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(children("orders")).isEmpty();
        assertThat(bench.attempt("orders")).isInstanceOf(Answer.Granted.class);
    }

    @Test
    void waitersAreServedInOrderWithGrowingTokens() throws Exception {
        Grant holder = bench.acquire("queue");
        List<Ears> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            Ears ears = new Ears();
            bench.queue("queue", ears);
            waiting.add(ears);
        }
        for (Ears next : waiting) {
            assertThat(waiting).allMatch(ears -> ears.grants.isEmpty());
            bench.store.release(holder, Duration.ZERO, bench.soon());
            Grant granted = next.grants.poll(10, SECONDS);
            assertThat(granted).isNotNull();
            assertThat(granted.token()).isGreaterThan(holder.token());
            holder = granted;
        }
        bench.store.release(holder, Duration.ZERO, bench.soon());
        assertThat(children("queue")).isEmpty();
    }

    @Test
    void aWaiterBehindOneWhoGaveUpIsNotAdmittedEarly() throws Exception {
        Grant holder = bench.acquire("gap");
        Ears[] ears = {new Ears(), new Ears(), new Ears()};
        Request[] requests = new Request[3];
        for (int i = 0; i < 3; i++) {
            requests[i] = bench.request("gap", Demand.exclusive());
            bench.queue(requests[i], ears[i]);
        }

        assertThat(bench.store.withdraw(requests[1], bench.soon())).isEqualTo(Withdrawal.REMOVED);
        assertThat(bench.store.withdraw(requests[0], bench.soon())).isEqualTo(Withdrawal.REMOVED);
        bench.renew(holder);
        assertThat(ears[2].grants).isEmpty();

        bench.store.release(holder, Duration.ZERO, bench.soon());
        assertThat(ears[2].grants.poll(10, SECONDS)).isNotNull();
        assertThat(ears[0].grants).isEmpty();
        assertThat(ears[1].grants).isEmpty();
    }

    @Test
    void readersShareAndAWriterWaitsForAllOfThem() throws Exception {
        Grant first = bench.acquire("table", Demand.shared());
        Grant second = bench.acquire("table", Demand.shared());
        Ears writer = new Ears();
        bench.queue("table", writer);
        Ears lateReader = new Ears();
        bench.queue(bench.request("table", Demand.shared()), lateReader);

        bench.store.release(second, Duration.ZERO, bench.soon());
        bench.renew(first);
        assertThat(writer.grants).isEmpty();
        assertThat(lateReader.grants).isEmpty();

        bench.store.release(first, Duration.ZERO, bench.soon());
        Grant written = writer.grants.poll(10, SECONDS);
        assertThat(written).isNotNull();
        assertThat(lateReader.grants).isEmpty();

        bench.store.release(written, Duration.ZERO, bench.soon());
        assertThat(lateReader.grants.poll(10, SECONDS)).isNotNull();
    }

    @Test
    void readersComeInTogetherWhenTheWriterAheadLeaves() throws Exception {
        Grant writer = bench.acquire("page");
        Ears[] readers = {new Ears(), new Ears(), new Ears()};
        for (Ears reader : readers) {
            bench.queue(bench.request("page", Demand.shared()), reader);
        }

        bench.store.release(writer, Duration.ZERO, bench.soon());

        for (Ears reader : readers) {
            assertThat(reader.grants.poll(10, SECONDS)).isNotNull();
        }
    }

    @Test
    void permitsAreGivenWhileTheyLast() throws Exception {
        Grant two = bench.acquire("pool", Demand.permits(2, 3));
        Grant one = bench.acquire("pool", Demand.permits(1, 3));
        Ears large = new Ears();
        bench.queue(bench.request("pool", Demand.permits(2, 3)), large);
        Ears small = new Ears();
        bench.queue(bench.request("pool", Demand.permits(1, 3)), small);

        bench.store.release(one, Duration.ZERO, bench.soon());
        bench.renew(two);
        assertThat(large.grants).isEmpty();
        assertThat(small.grants).as("nobody is overtaken").isEmpty();

        bench.store.release(two, Duration.ZERO, bench.soon());
        assertThat(large.grants.poll(10, SECONDS)).isNotNull();
        assertThat(small.grants.poll(10, SECONDS)).isNotNull();
    }

    @Test
    void aWithdrawnTicketHearsNothingAndLeavesNothing() throws Exception {
        Grant holder = bench.acquire("leave");
        Ears ears = new Ears();
        Request request = bench.request("leave", Demand.exclusive());
        Ticket ticket = bench.queue(request, ears);

        assertThat(bench.store.withdraw(request, bench.soon())).isEqualTo(Withdrawal.REMOVED);
        assertThat(children("leave")).hasSize(1);
        bench.store.release(holder, Duration.ZERO, bench.soon());
        assertThat(bench.renew(ticket)).isInstanceOf(RenewalAnswer.Gone.class);
        assertThat(ears.grants).isEmpty();
        assertThat(ears.losses).isEmpty();
        assertThat(bench.store.withdraw(request, bench.soon())).isEqualTo(Withdrawal.NOT_FOUND);
    }

    @Test
    void P3_aLateReleaseNeverFreesASuccessor() {
        Grant first = bench.acquire("stale");
        bench.store.release(first, Duration.ZERO, bench.soon());
        Grant second = bench.acquire("stale");

        assertThat(bench.store.release(first, Duration.ZERO, bench.soon())).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(bench.renew(second)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(second.token()).isGreaterThan(first.token());
    }

    @Test
    void P1_renewalCountsFromBeforeItWasSent() {
        Grant grant = bench.acquire("base");
        long before = System.nanoTime();

        RenewalAnswer answer = bench.renew(grant);

        assertThat(answer).isInstanceOfSatisfying(RenewalAnswer.Extended.class, extended -> {
            assertThat(extended.baseNanos()).isLessThanOrEqualTo(System.nanoTime());
            assertThat(extended.baseNanos() - before).isLessThan(SECONDS.toNanos(5));
            assertThat(extended.ttl()).isEqualTo(TTL);
        });
        assertThat(grant.baseNanos()).isLessThanOrEqualTo(before);
    }

    @Test
    void aForcedReleaseTellsTheHolderAndLetsTheNextIn() throws Exception {
        Grant holder = bench.acquire("forced");
        Ears ears = new Ears();
        bench.queue("forced", ears);
        bench.renew(holder);
        try (StoreBench other = StoreBench.at(TestServers.uri(server.connectString()), TTL)) {
            assertThat(other.store.forceRelease("forced", other.soon())).isEqualTo(1);
        }

        Grant next = ears.grants.poll(10, SECONDS);
        assertThat(next).isNotNull();
        assertThat(next.token()).isGreaterThan(holder.token());
        StoreBench.Lost lost = bench.losses.poll(10, SECONDS);
        assertThat(lost).isNotNull();
        assertThat(lost.owner()).isEqualTo(holder.request().owner());
        assertThat(lost.reason()).isEqualTo(LossReason.FORCED);
        assertThat(bench.renew(holder)).isInstanceOf(RenewalAnswer.Gone.class);
        assertThat(bench.store.release(holder, Duration.ZERO, bench.soon())).isEqualTo(ReleaseAnswer.NOT_HELD);
    }

    @Test
    void aForcedReleaseTellsAHolderThatNeverRenewsToo() throws Exception {
        Grant fixed = bench.acquire("forced-fixed");
        try (StoreBench other = StoreBench.at(TestServers.uri(server.connectString()), TTL)) {
            assertThat(other.store.forceRelease("forced-fixed", other.soon())).isEqualTo(1);
        }

        StoreBench.Lost lost = bench.losses.poll(10, SECONDS);
        assertThat(lost).isNotNull();
        assertThat(lost.owner()).isEqualTo(fixed.request().owner());
        assertThat(lost.reason()).isEqualTo(LossReason.FORCED);
    }

    @Test
    void aHolderWhoseNodeWasDeletedBeforeItsFirstRenewalIsToldByThat() throws Exception {
        Grant holder = bench.acquire("snatched");
        admin.delete("/locks/snatched/" + children("snatched").get(0), -1);

        assertThat(bench.renew(holder)).isInstanceOf(RenewalAnswer.Gone.class);
        assertThat(bench.store.release(holder, Duration.ZERO, bench.soon())).isEqualTo(ReleaseAnswer.NOT_HELD);
    }

    @Test
    void aReleaseOfANodeSomebodyDeletedSaysSo() throws Exception {
        Grant holder = bench.acquire("snatched-too");
        admin.delete("/locks/snatched-too/" + children("snatched-too").get(0), -1);

        assertThat(bench.store.release(holder, Duration.ZERO, bench.soon())).isEqualTo(ReleaseAnswer.NOT_HELD);
    }

    @Test
    void aWaiterWhoseNodeWasDeletedIsToldWithItsNextHeartbeat() throws Exception {
        bench.acquire("pushed-out");
        Ears ears = new Ears();
        Ticket ticket = bench.queue("pushed-out", ears);
        admin.delete(
                "/locks/pushed-out/"
                        + children("pushed-out").stream()
                                .sorted((a, b) -> b.substring(b.length() - 10).compareTo(a.substring(a.length() - 10)))
                                .findFirst()
                                .orElseThrow(),
                -1);

        assertThat(bench.renew(ticket)).isInstanceOf(RenewalAnswer.Gone.class);
        assertThat(ears.losses.poll(10, SECONDS)).contains("deleted");
    }

    @Test
    void P4_aClaimNobodyRenewsIsGivenUpAfterItsTtlAlthoughTheSessionLives() throws Exception {
        Duration shortTtl = Duration.ofSeconds(1);
        Request request = bench.request("forgotten", Demand.exclusive(), shortTtl);
        Grant forgotten = ((Answer.Granted) bench.store.enqueue(request, new Ears(), bench.soon())).grant();
        Ears ears = new Ears();
        Ticket ticket = bench.queue("forgotten", ears);

        await().atMost(Duration.ofSeconds(20)).until(() -> {
            bench.renew(ticket);
            return !ears.grants.isEmpty();
        });
        assertThat(bench.renew(forgotten)).isInstanceOf(RenewalAnswer.Gone.class);
    }

    @Test
    void aTtlTheServersDoNotKeepIsAnError() {
        Request request = bench.request("long", Demand.exclusive(), Duration.ofMinutes(10));

        assertThatThrownBy(() -> bench.store.attempt(request, bench.soon()))
                .isInstanceOf(UnsupportedLockException.class)
                .hasMessageContaining("600000 ms")
                .hasMessageContaining("60000 ms");
    }

    @Test
    void locksCanBeLookedAtWhateverTimeoutTheServersGive() {
        try (StoreBench patient =
                StoreBench.at("zookeeper://" + server.connectString() + "/locks?tick=10s", Duration.ofMinutes(10))) {
            bench.acquire("looked-at");

            LockView view = patient.store.view("looked-at", patient.soon());

            assertThat(view.isHeld()).isTrue();
        }
    }

    @Test
    void anExtensionBeyondTheSessionIsRefused() {
        Grant grant = bench.acquire("extend");

        RenewalAnswer answer = bench.store
                .renew(List.of(new RenewalRequest(grant, Duration.ofMinutes(1))), bench.soon())
                .get(0);

        assertThat(answer)
                .isInstanceOfSatisfying(
                        RenewalAnswer.Unsettled.class,
                        unsettled -> assertThat(unsettled.cause()).isInstanceOf(UnsupportedLockException.class));
    }

    @Test
    void aDirectoryRemovedByTheServersIsMadeAgain() throws Exception {
        bench.store.release(bench.acquire("reaped"), Duration.ZERO, bench.soon());
        admin.delete("/locks/reaped", -1);

        assertThat(bench.acquire("reaped").token()).isPositive();
    }

    @Test
    void P3_aNodeOfAnotherSessionIsNeverTakenForOursThoughItBearsOurUuid() throws Exception {
        bench.store.release(bench.acquire("ghost"), Duration.ZERO, bench.soon());
        Request request = bench.request("ghost", Demand.exclusive());
        String ghost = admin.create(
                "/locks/ghost/" + NodeNames.node(NodeNames.uuid(request.owner()), Demand.exclusive(), Layout.MUTEX),
                new byte[0],
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);
        Ears ears = new Ears();

        Ticket ticket = bench.queue(request, ears);
        assertThat(bench.renew(ticket)).isInstanceOf(RenewalAnswer.Extended.class);
        assertThat(ears.grants).isEmpty();

        admin.delete(ghost, -1);
        assertThat(ears.grants.poll(10, SECONDS)).isNotNull();
    }

    @Test
    void nobodyAnsweringIsAnErrorByTheDeadline() {
        try (StoreBench lonely = StoreBench.at("zookeeper://127.0.0.1:1/locks", TTL)) {
            assertThatThrownBy(() -> lonely.store.attempt(
                            lonely.request("x", Demand.exclusive()), lonely.within(Duration.ofMillis(300))))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("127.0.0.1:1");
        }
    }

    @Test
    void anotherTtlDoesNotEndASessionThatSomebodyIsAboutToUse() {
        try (StoreBench lonely = StoreBench.at("zookeeper://127.0.0.1:1/locks", TTL)) {
            List<Thread> waiting = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                Request request = lonely.request("x", Demand.exclusive(), TTL.plusMillis(i));
                Thread thread = new Thread(() -> lonely.store.attempt(request, lonely.soon()));
                thread.setUncaughtExceptionHandler((dying, failure) -> {});
                thread.start();
                waiting.add(thread);
            }
            await().until(() -> waiting.stream().allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
            Request another = lonely.request("x", Demand.exclusive(), TTL.plusSeconds(1));

            assertThatThrownBy(() -> lonely.store.attempt(another, lonely.within(Duration.ofSeconds(1))))
                    .isInstanceOf(UnsupportedLockException.class)
                    .hasMessageContaining("16 different ttls");
            assertThat(waiting).allMatch(Thread::isAlive);
        }
    }

    @Test
    void showsHoldersAndWaitersOfOursAndForeignOnes() throws Exception {
        Grant holder = bench.acquire("a/b");
        Ears ears = new Ears();
        bench.queue(bench.request("a/b", Demand.shared()), ears);
        admin.create(
                "/locks/a%2Fb/_c_foreign-lock-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        bench.acquire("other");

        LockView view = bench.store.view("a/b", bench.soon());

        assertThat(view.holders()).singleElement().satisfies(shown -> {
            assertThat(shown.origin()).contains(holder.request().origin());
            assertThat(shown.token()).isEqualTo(holder.token() * 1024);
            assertThat(shown.demand()).isEqualTo(Demand.exclusive());
            assertThat(shown.timeLeft()).contains(TTL);
        });
        assertThat(view.waiters()).hasSize(2);
        assertThat(view.waiters().get(0).demand()).isEqualTo(Demand.shared());
        assertThat(view.waiters().get(1).origin()).isEmpty();
        assertThat(bench.store.views("a/", bench.soon())).containsExactly(view);
        assertThat(bench.store.views("", bench.soon()))
                .extracting(LockView::name)
                .contains("a/b", "other");
        assertThat(bench.store.view("nobody", bench.soon())).isEqualTo(LockView.free("nobody"));
    }

    @Test
    void P8_closingLeavesNoNodes() throws Exception {
        StoreBench closing = StoreBench.at(TestServers.uri(server.connectString()), Duration.ofSeconds(30));
        closing.acquire("closing");
        closing.queue("closing", new Ears());
        closing.close();

        // Closing waits only so long for the answer.
        await().untilAsserted(() -> assertThat(children("closing")).isEmpty());
    }

    private static List<String> children(String lock) throws Exception {
        return admin.getChildren("/locks/" + NodeNames.directory(lock), false);
    }
}
