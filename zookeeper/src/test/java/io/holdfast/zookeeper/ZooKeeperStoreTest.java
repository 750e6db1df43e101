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
import io.holdfast.spi.LockStore.Page;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket.Ending;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import io.holdfast.spi.Withdrawal;
import io.holdfast.zookeeper.StoreBench.Renewed;
import io.holdfast.zookeeper.tree.Layout;
import io.holdfast.zookeeper.tree.NodeNames;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ZooKeeperStoreTest {

    private static final Duration TTL = Duration.ofSeconds(30);

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
        TestTicket first = bench.acquire("orders");

        assertThat(first.ticket.givenTtl()).isEqualTo(TTL);
        assertThat(children("orders"))
                .singleElement()
                .asString()
                .startsWith("_c_")
                .contains("-lock-00000");
        assertThat(bench.refusal("orders")).isPresent();
        assertThat(children("orders")).hasSize(1);
        assertThat(bench.release(first)).isEqualTo(ReleaseAnswer.RELEASED);
        assertThat(children("orders")).isEmpty();
        assertThat(bench.refusal("orders")).isEmpty();
    }

    @Test
    void waitersAreServedInOrderWithGrowingTokens() throws Exception {
        TestTicket holder = bench.acquire("queue");
        List<TestTicket> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiting.add(bench.queue("queue"));
        }
        for (TestTicket next : waiting) {
            assertThat(waiting).allMatch(ticket -> ticket.grants.isEmpty());
            bench.release(holder);
            assertThat(next.grants.poll(20, SECONDS)).isNotNull().isGreaterThan(holder.token());
            holder = next;
        }
        bench.release(holder);
        assertThat(children("queue")).isEmpty();
    }

    @Test
    void aWaiterBehindOneWhoGaveUpIsNotAdmittedEarly() throws Exception {
        TestTicket holder = bench.acquire("gap");
        TestTicket first = bench.queue("gap");
        TestTicket second = bench.queue("gap");
        TestTicket third = bench.queue("gap");

        assertThat(bench.withdraw(second)).isEqualTo(Withdrawal.REMOVED);
        assertThat(bench.withdraw(first)).isEqualTo(Withdrawal.REMOVED);
        bench.renew(holder);
        assertThat(third.grants).isEmpty();

        bench.release(holder);
        assertThat(third.grants.poll(20, SECONDS)).isNotNull();
        assertThat(first.grants).isEmpty();
        assertThat(second.grants).isEmpty();
    }

    @Test
    void readersShareAndAWriterWaitsForAllOfThem() throws Exception {
        TestTicket first = bench.acquire("table", Demand.shared());
        TestTicket second = bench.acquire("table", Demand.shared());
        TestTicket writer = bench.queue("table");
        TestTicket lateReader = bench.queue("table", Demand.shared());

        bench.release(second);
        bench.renew(first);
        assertThat(writer.grants).isEmpty();
        assertThat(lateReader.grants).isEmpty();

        bench.release(first);
        assertThat(writer.grants.poll(20, SECONDS)).isNotNull();
        assertThat(lateReader.grants).isEmpty();

        bench.release(writer);
        assertThat(lateReader.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void readersComeInTogetherWhenTheWriterAheadLeaves() throws Exception {
        TestTicket writer = bench.acquire("page");
        List<TestTicket> readers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            readers.add(bench.queue("page", Demand.shared()));
        }

        bench.release(writer);

        for (TestTicket reader : readers) {
            assertThat(reader.grants.poll(20, SECONDS)).isNotNull();
        }
    }

    @Test
    void permitsAreGivenWhileTheyLast() throws Exception {
        TestTicket two = bench.acquire("pool", Demand.permits(2, 3));
        TestTicket one = bench.acquire("pool", Demand.permits(1, 3));
        TestTicket large = bench.queue("pool", Demand.permits(2, 3));
        TestTicket small = bench.queue("pool", Demand.permits(1, 3));

        bench.release(one);
        bench.renew(two);
        assertThat(large.grants).isEmpty();
        assertThat(small.grants).as("nobody is overtaken").isEmpty();

        bench.release(two);
        assertThat(large.grants.poll(20, SECONDS)).isNotNull();
        assertThat(small.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void aWithdrawnTicketHearsNothingAndLeavesNothing() throws Exception {
        TestTicket holder = bench.acquire("leave");
        TestTicket waiter = bench.queue("leave");

        assertThat(bench.withdraw(waiter)).isEqualTo(Withdrawal.REMOVED);
        assertThat(children("leave")).hasSize(1);
        bench.release(holder);
        bench.renew(bench.acquire("leave"));
        assertThat(waiter.grants).isEmpty();
        assertThat(waiter.losses).isEmpty();
        assertThat(bench.withdraw(waiter)).isEqualTo(Withdrawal.NOT_FOUND);
    }

    @Test
    void aTicketWhoseNodeWasGivenUpIsGoneAtItsNextRenewal() {
        TestTicket holder = bench.acquire("behind-its-back");
        // With this it looks at its own node, once.
        assertThat(bench.renew(holder)).isEqualTo(Renewed.KEPT);

        assertThat(bench.store.withdraw(holder.ticket, bench.soon())).isEqualTo(Withdrawal.REMOVED);

        assertThat(bench.renew(holder)).isEqualTo(Renewed.GONE);
    }

    @Test
    void P3_aLateReleaseNeverFreesASuccessor() {
        TestTicket first = bench.acquire("stale");
        bench.release(first);
        TestTicket second = bench.acquire("stale");

        assertThat(bench.release(first)).isEqualTo(ReleaseAnswer.NOT_HELD);
        assertThat(bench.renew(second)).isEqualTo(Renewed.KEPT);
        assertThat(second.token()).isGreaterThan(first.token());
    }

    @Test
    void P1_renewalCountsFromBeforeItWasSent() {
        TestTicket held = bench.acquire("base");
        long before = System.nanoTime();
        long granted = held.ticket.baseNanos();
        assertThat(granted).isLessThanOrEqualTo(before);

        assertThat(bench.renew(held)).isEqualTo(Renewed.KEPT);

        assertThat(held.ticket.baseNanos()).isBetween(granted, System.nanoTime());
        assertThat(held.ticket.givenTtl()).isEqualTo(TTL);
    }

    @Test
    void P1_aLeaseEndsAtLeastATickEarly() {
        assertThat(bench.store.traits().minMargin()).isEqualTo(TestServers.TICK);
    }

    @Test
    void aForcedReleaseTellsTheHolderAndLetsTheNextIn() throws Exception {
        TestTicket holder = bench.acquire("forced");
        TestTicket next = bench.queue("forced");
        bench.renew(holder);
        try (StoreBench other = StoreBench.at(TestServers.uri(server.connectString()), TTL)) {
            assertThat(other.store.forceRelease("forced", other.soon())).isEqualTo(1);
        }

        assertThat(next.grants.poll(20, SECONDS)).isNotNull().isGreaterThan(holder.token());
        assertThat(holder.losses.poll(20, SECONDS)).extracting(Ending::reason).isEqualTo(LossReason.FORCED);
        assertThat(bench.renew(holder)).isEqualTo(Renewed.GONE);
        assertThat(bench.release(holder)).isEqualTo(ReleaseAnswer.NOT_HELD);
    }

    @Test
    void aForcedReleaseTellsAHolderLongBeforeItsFirstRenewal() throws Exception {
        TestTicket fixed = bench.acquire(bench.ticket("forced-fixed", Demand.exclusive(), Duration.ofSeconds(60)));
        try (StoreBench other = StoreBench.at(TestServers.uri(server.connectString()), TTL)) {
            assertThat(other.store.forceRelease("forced-fixed", other.soon())).isEqualTo(1);
        }

        // Within a second, but for a busy machine; a renewal would be due after twenty.
        assertThat(fixed.losses.poll(10, SECONDS)).extracting(Ending::reason).isEqualTo(LossReason.FORCED);
    }

    @Test
    void aHolderWhoseNodeWasDeletedBeforeItsFirstRenewalIsToldByThat() throws Exception {
        TestTicket holder = bench.acquire("snatched");
        admin.delete("/locks/snatched/" + children("snatched").get(0), -1);

        assertThat(bench.renew(holder)).isEqualTo(Renewed.GONE);
        assertThat(bench.release(holder)).isEqualTo(ReleaseAnswer.NOT_HELD);
    }

    @Test
    void aReleaseOfANodeSomebodyDeletedSaysSo() throws Exception {
        TestTicket holder = bench.acquire("snatched-too");
        admin.delete("/locks/snatched-too/" + children("snatched-too").get(0), -1);

        assertThat(bench.release(holder)).isEqualTo(ReleaseAnswer.NOT_HELD);
    }

    @Test
    void aWaiterWhoseNodeWasDeletedIsToldWithItsNextHeartbeat() throws Exception {
        bench.acquire("pushed-out");
        TestTicket waiter = bench.queue("pushed-out");
        admin.delete(
                "/locks/pushed-out/"
                        + children("pushed-out").stream()
                                .sorted((a, b) -> b.substring(b.length() - 10).compareTo(a.substring(a.length() - 10)))
                                .findFirst()
                                .orElseThrow(),
                -1);

        assertThat(bench.renew(waiter)).isEqualTo(Renewed.GONE);
        assertThat(waiter.losses.poll(20, SECONDS))
                .extracting(Ending::detail)
                .asString()
                .contains("deleted");
    }

    @Test
    void P4_aClaimNobodyRenewsIsGivenUpAfterItsTtlAlthoughTheSessionLives() throws Exception {
        bench.release(bench.acquire("forgotten"));
        Duration shortTtl = Duration.ofSeconds(3);
        TestTicket forgotten = bench.acquire(bench.ticket("forgotten", Demand.exclusive(), shortTtl));
        TestTicket waiter = bench.queue("forgotten");

        await().atMost(Duration.ofSeconds(20)).until(() -> {
            bench.renew(waiter);
            return !waiter.grants.isEmpty();
        });
        assertThat(forgotten.losses.poll(20, SECONDS))
                .extracting(Ending::reason)
                .isEqualTo(LossReason.EXPIRED);
        assertThat(bench.renew(forgotten)).isEqualTo(Renewed.GONE);
    }

    @Test
    void aTtlTheServersDoNotKeepIsAnError() {
        TestTicket tooLong = bench.ticket("long", Demand.exclusive(), Duration.ofMinutes(10));

        assertThatThrownBy(() -> bench.refusal(tooLong, bench.soon()))
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
        TestTicket held = bench.acquire("extend");

        assertThatThrownBy(() -> bench.store.extend(held.ticket, Duration.ofMinutes(1), bench.soon()))
                .isInstanceOf(UnsupportedLockException.class)
                .hasMessageContaining("cannot grow");
        assertThat(bench.renew(held)).isEqualTo(Renewed.KEPT);
    }

    @Test
    void anExtensionByTheTtlItselfGivesWhatAFreshLeaseHas() {
        TestTicket held = bench.acquire("extend-by-ttl");
        int kept = held.kept.get();

        bench.store.extend(held.ticket, new Validity(TimeSource.system(), TestServers.TICK).ttlFor(TTL), bench.soon());

        assertThat(held.kept.get()).isGreaterThan(kept);
    }

    @Test
    void aDirectoryRemovedByTheServersIsMadeAgain() throws Exception {
        bench.release(bench.acquire("reaped"));
        admin.delete("/locks/reaped", -1);

        assertThat(bench.acquire("reaped").token()).isPositive();
    }

    @Test
    void P3_aNodeOfAnotherSessionIsNeverTakenForOursThoughItBearsOurUuid() throws Exception {
        bench.release(bench.acquire("ghost"));
        TestTicket waiter = bench.ticket("ghost");
        String ghost = admin.create(
                "/locks/ghost/"
                        + NodeNames.node(NodeNames.uuid(waiter.ticket.owner()), Demand.exclusive(), Layout.MUTEX),
                new byte[0],
                Ids.OPEN_ACL_UNSAFE,
                CreateMode.EPHEMERAL_SEQUENTIAL);

        bench.queue(waiter);
        assertThat(bench.renew(waiter)).isEqualTo(Renewed.KEPT);
        assertThat(waiter.grants).isEmpty();

        admin.delete(ghost, -1);
        assertThat(waiter.grants.poll(20, SECONDS)).isNotNull();
    }

    @Test
    void nobodyAnsweringIsAnErrorByTheDeadline() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                StoreBench lonely = StoreBench.at(uri(silent), TTL)) {
            assertThatThrownBy(() -> lonely.refusal("x", lonely.within(Duration.ofMillis(300))))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("127.0.0.1:" + silent.getLocalPort())
                    .hasMessageContaining("answered in time");
        }
    }

    @Test
    void aRefusedConnectionIsSaidToBeRefused() {
        try (StoreBench lonely = StoreBench.at("zookeeper://127.0.0.1:1,127.0.0.1:2/locks", TTL)) {
            // Again: the next request asks anew.
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> lonely.refusal("x"))
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("cannot connect to 127.0.0.1:1: Connection refused, "
                                + "127.0.0.1:2: Connection refused");
            }
            assertThatThrownBy(() -> lonely.store.ping(lonely.soon()))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("127.0.0.1:1: Connection refused");
        }
    }

    @Test
    void oneServerThatAnswersWillDo() {
        try (StoreBench half =
                StoreBench.at("zookeeper://127.0.0.1:1," + server.connectString() + "/locks?tick=100ms", TTL)) {
            half.release(half.acquire("half"));
        }
    }

    private static String uri(ServerSocket silent) {
        return "zookeeper://127.0.0.1:" + silent.getLocalPort() + "/locks";
    }

    @Test
    void anotherTtlDoesNotEndASessionThatSomebodyIsAboutToUse() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                StoreBench lonely = StoreBench.at(uri(silent), TTL)) {
            List<Thread> waiting = new ArrayList<>();
            for (int i = 0; i < 16; i++) {
                TestTicket ticket = lonely.ticket("x", Demand.exclusive(), TTL.plusMillis(i));
                Thread thread = new Thread(() -> lonely.refusal(ticket, lonely.soon()));
                thread.setUncaughtExceptionHandler((dying, failure) -> {});
                thread.start();
                waiting.add(thread);
            }
            await().until(() -> waiting.stream().allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
            TestTicket another = lonely.ticket("x", Demand.exclusive(), TTL.plusSeconds(1));

            assertThatThrownBy(() -> lonely.refusal(another, lonely.within(Duration.ofSeconds(1))))
                    .isInstanceOf(UnsupportedLockException.class)
                    .hasMessageContaining("16 different ttls");
            assertThat(waiting).allMatch(Thread::isAlive);
        }
    }

    @Test
    void showsHoldersAndWaitersOfOursAndForeignOnes() throws Exception {
        TestTicket holder = bench.acquire("a/b");
        bench.queue("a/b", Demand.shared());
        admin.create(
                "/locks/a%2Fb/_c_foreign-lock-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        bench.acquire("other");

        LockView view = bench.store.view("a/b", bench.soon());

        assertThat(view.holders()).singleElement().satisfies(shown -> {
            assertThat(shown.origin()).contains(holder.ticket.origin());
            assertThat(shown.token()).contains(holder.token());
            assertThat(shown.demand()).isEqualTo(Demand.exclusive());
            assertThat(shown.timeLeft()).contains(TTL);
        });
        assertThat(view.waiters()).hasSize(2);
        assertThat(view.waiters().get(0).demand()).isEqualTo(Demand.shared());
        assertThat(view.waiters().get(1).origin()).isEmpty();
        assertThat(bench.store.views("a/", Optional.empty(), 100, bench.soon()))
                .isEqualTo(new Page(List.of(view), Optional.empty()));
        assertThat(bench.store.views("", Optional.empty(), 10_000, bench.soon()).locks())
                .extracting(LockView::name)
                .contains("a/b", "other");
        assertThat(bench.store.view("nobody", bench.soon())).isEqualTo(LockView.free("nobody"));
    }

    @Test
    void aForeignHolderHasNoToken() throws Exception {
        bench.release(bench.acquire("foreign"));
        admin.create(
                "/locks/foreign/_c_foreign-lock-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);

        assertThat(bench.store.view("foreign", bench.soon()).holders())
                .singleElement()
                .satisfies(shown -> assertThat(shown.token()).isEmpty());
    }

    @Test
    void locksAreListedInPagesAndFreeOnesFillNone() {
        for (int i = 0; i < 9; i++) {
            TestTicket held = bench.acquire("paged/" + i);
            if (i % 3 == 1) {
                bench.release(held);
            }
        }
        List<String> seen = new ArrayList<>();
        Optional<String> next = Optional.empty();
        int pages = 0;
        do {
            Page page = bench.store.views("paged/", next, 2, bench.soon());
            assertThat(page.locks()).hasSize(2);
            page.locks().forEach(view -> seen.add(view.name()));
            next = page.next();
            pages++;
        } while (next.isPresent());

        assertThat(seen).containsExactly("paged/0", "paged/2", "paged/3", "paged/5", "paged/6", "paged/8");
        assertThat(pages).isEqualTo(3);
    }

    @Test
    void aPingConnectsAndSaysWhetherSomebodyIsThere() {
        bench.store.ping(bench.soon());
        try (StoreBench lonely = StoreBench.at("zookeeper://127.0.0.1:1/locks", TTL)) {
            assertThatThrownBy(() -> lonely.store.ping(lonely.within(Duration.ofMillis(300))))
                    .isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void P8_closingLeavesNoNodes() throws Exception {
        StoreBench closing = StoreBench.at(TestServers.uri(server.connectString()), Duration.ofSeconds(30));
        closing.acquire("closing");
        closing.queue("closing");
        closing.close();

        // Closing waits only so long for the answer.
        await().untilAsserted(() -> assertThat(children("closing")).isEmpty());
    }

    private static List<String> children(String lock) throws Exception {
        return admin.getChildren("/locks/" + NodeNames.directory(lock), false);
    }
}
