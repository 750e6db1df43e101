package io.holdfast.zookeeper.ticket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.servers.ZooKeeperServer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Validity;
import io.holdfast.zookeeper.session.Ensemble;
import io.holdfast.zookeeper.session.OwnClient;
import io.holdfast.zookeeper.session.Session.Purpose;
import io.holdfast.zookeeper.session.SessionOverException;
import io.holdfast.zookeeper.session.SessionOverException.Ending;
import io.holdfast.zookeeper.tree.Layout;
import io.holdfast.zookeeper.tree.LockTree;
import java.lang.Thread.State;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.ZooDefs.Ids;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What happens to a ticket while it joins or leaves. */
@DisplayName("Between two steps of a ticket")
class TicketStepsTest {

    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration TICK = Duration.ofMillis(100);
    private static final LockTree TREE = new LockTree("/locks", Ids.OPEN_ACL_UNSAFE, Layout.MUTEX);

    private static ZooKeeperServer server;

    private final OwnerId.Source owners = new OwnerId.Source();
    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
    private final Directories directories = new Directories(TREE.acl());
    private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final TappedClock clock = new TappedClock();
    private SessionTickets tickets;

    @BeforeAll
    static void startServer() {
        server = ZooKeeperServer.builder()
                .tick(TICK)
                .args("minSessionTimeout=200", "maxSessionTimeout=60000")
                .start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void open() throws SessionOverException {
        tickets = session();
    }

    @AfterEach
    void close() {
        tickets.session().end(Ending.FOR_GOOD, "over");
        timer.shutdownNow();
    }

    @Test
    void aSessionThatEndsBeforeTheTicketWasToldAnythingLetsTheRequestGoOn() throws Exception {
        TicketNode node = joined("unborn", new Told());

        tickets.session().end(Ending.EXPIRED, "as far as this test goes");

        assertThatThrownBy(node::startReporting)
                .isInstanceOfSatisfying(
                        SessionOverException.class,
                        over -> assertThat(over.mayTryAnother()).isTrue());
        assertThat(told).isEmpty();
    }

    @Test
    void aSessionThatEndsAfterTheTicketWasToldItWaitsIsALossAndNeverAGrant() throws Exception {
        holdElsewhere("waiting");
        TicketNode node = joined("waiting", new Told() {
            @Override
            public void kept() {
                super.kept();
                // It was told that it waits, and nobody watches for it yet.
                tickets.session().end(Ending.EXPIRED, "as far as this test goes");
            }
        });

        node.startReporting();

        assertThat(told).containsExactly("waits", LossReason.GONE.name());
        assertThat(node.ticket().state()).isEqualTo(Ticket.State.ENDED);
        assertThat(tickets.isIdle()).as("nothing is kept of it").isTrue();
    }

    @Test
    void aSessionThatEndsAfterTheTicketWasGrantedIsALoss() throws Exception {
        TicketNode node = joined("held", new Told());
        node.startReporting();

        tickets.session().end(Ending.EXPIRED, "as far as this test goes");

        assertThat(told).containsExactly("granted", LossReason.GONE.name());
    }

    @Test
    void aNodeThatIsGoneWhenItIsListedIsMadeAnew() throws Exception {
        TicketNode node = joined("snatched", new Told());
        String made = node.node().queued().name();
        tickets.session().requests().delete("/locks/snatched/" + made).join();

        // As after a creation whose answer came, but not that to the listing behind it.
        node.join(soon());

        assertThat(node.isAdmitted()).isTrue();
        assertThat(node.node().queued().name()).isNotEqualTo(made);
        List<String> there = tickets.session()
                .requests()
                .children("/locks/snatched", null)
                .join()
                .names();
        assertThat(there).containsExactly(node.node().queued().name());
    }

    @Test
    void P3_aReleaseThatTheSweepOvertakesIsStillARelease() throws Exception {
        TicketNode node = joined("overtaken", new Told());
        node.startReporting();
        tickets.abandon(node);
        Thread sweep = new Thread(() -> tickets.tend(System.nanoTime() + TTL.toNanos() / 2));
        // The clock is read when the deletion is about to be sent.
        clock.atNextLook(() -> {
            sweep.start();
            await().until(() -> Set.of(State.TERMINATED, State.BLOCKED).contains(sweep.getState()));
        });

        boolean released = tickets.remove(node).get(20, TimeUnit.SECONDS);

        assertThat(released).isTrue();
        sweep.join();
    }

    @Test
    void aNodeThatOthersDeletedIsNotReleasedHoweverOftenItIsTried() throws Exception {
        TicketNode node = joined("forced", new Told());
        node.startReporting();
        tickets.session()
                .requests()
                .delete("/locks/forced/" + node.node().queued().name())
                .join();

        assertThat(node.node().delete().get(20, TimeUnit.SECONDS)).isFalse();
        assertThat(node.node().delete().get(20, TimeUnit.SECONDS)).isFalse();
    }

    private void holdElsewhere(String lock) throws Exception {
        SessionTickets others = session();
        TicketNode holder = new TicketNode(others, ticket(lock, new Ticket.Listener() {}), TREE, directories);
        others.add(holder);
        holder.join(soon());
        holder.startReporting();
        assertThat(holder.ticket().state()).isEqualTo(Ticket.State.HELD);
    }

    private TicketNode joined(String lock, Ticket.Listener listener) throws Exception {
        TicketNode node = new TicketNode(tickets, ticket(lock, listener), TREE, directories);
        tickets.add(node);
        node.join(soon());
        return node;
    }

    private Ticket ticket(String lock, Ticket.Listener listener) {
        Validity validity = new Validity(TimeSource.system(), TICK);
        Origin origin = new Origin("test", "host", 1, "thread");
        return new Ticket(lock, owners.next(), Demand.exclusive(), TTL, origin, validity, listener);
    }

    private SessionTickets session() throws SessionOverException {
        StoreContext context = new StoreContext(
                owners.client(),
                "test",
                clock,
                (atNanos, task) -> {
                    Future<?> alarm = timer.schedule(task, atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
                    return () -> alarm.cancel(false);
                },
                Runnable::run);
        OwnClient connector = new OwnClient(server.connectString(), Optional.empty(), Map.of());
        Ensemble ensemble = new Ensemble("test", connector, TICK, TREE.emptyPath());
        SessionTickets opened = new SessionTickets(ensemble, context, TTL, Purpose.LEASES);
        opened.session().start();
        opened.session().awaitConnected("test", soon());
        return opened;
    }

    private static Deadline soon() {
        return Deadline.after(TimeSource.system(), Duration.ofSeconds(20));
    }

    private class Told implements Ticket.Listener {

        @Override
        public void granted() {
            told.add("granted");
        }

        @Override
        public void kept() {
            told.add("waits");
        }

        @Override
        public void ended(Ticket.Ending why) {
            told.addAll(List.of(why.reason().name()));
        }
    }

    /** Does something else before it tells the time. */
    private static final class TappedClock implements TimeSource {

        private final AtomicReference<@Nullable Runnable> tap = new AtomicReference<>();

        void atNextLook(Runnable task) {
            tap.set(task);
        }

        @Override
        public long nanoTime() {
            Runnable task = tap.getAndSet(null);
            if (task != null) {
                task.run();
            }
            return System.nanoTime();
        }

        @Override
        public void parkUntil(Object blocker, long nanos) {
            TimeSource.system().parkUntil(blocker, nanos);
        }
    }
}
