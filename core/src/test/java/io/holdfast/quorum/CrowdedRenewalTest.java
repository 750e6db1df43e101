package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView.Origin;
import io.holdfast.ManualTime;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.memory.MemoryStore;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TokenRaisingStore;
import io.holdfast.spi.Validity;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Renewals in a quorum whose nodes have not time enough for all of them")
@Timeout(60)
class CrowdedRenewalTest {

    private static final Duration TTL = Duration.ofMillis(300);
    private static final Duration TIME = Duration.ofMillis(100);
    private static final int CROWD = 100;
    private static final int KEPT = 40;

    private final ManualTime time = new ManualTime();
    private final OwnerId.Source owners = new OwnerId.Source();
    private final StoreContext context =
            new StoreContext(owners.client(), "test", time, (at, task) -> () -> {}, Runnable::run);
    private final List<SlowNode> nodes = List.of(new SlowNode(), new SlowNode(), new SlowNode());
    private final LockStore store =
            QuorumStore.of(List.<StoreFactory>copyOf(nodes)).open(context);
    private final List<Held> crowd = IntStream.range(0, CROWD)
            .mapToObj(number -> new Held("job-" + number))
            .toList();

    @BeforeEach
    void grant() {
        crowd.forEach(held -> store.request(held.ticket, Mode.TRY, Deadline.after(time, TIME)));
        assertThat(crowd).allMatch(held -> held.ticket.state() == Ticket.State.HELD);
        await().until(() -> nodes.stream().allMatch(node -> node.grants.get() == CROWD));
        time.advance(TIME);
    }

    @AfterEach
    void close() {
        nodes.forEach(node -> node.goOn.countDown());
        store.close();
    }

    /** A node that renews some, and then nothing is heard of it until it is told to go on, or to extend something. */
    private static final class SlowNode implements StoreFactory {

        private final AtomicInteger grants = new AtomicInteger();
        private final AtomicInteger done = new AtomicInteger();
        private final CountDownLatch goOn = new CountDownLatch(1);
        private final CountDownLatch late = new CountDownLatch(1);
        private volatile int inTime = KEPT;

        @Override
        public LockStore open(StoreContext context) {
            LockStore inner = MemoryStore.unnamed().open(context);
            Class<?>[] kind = {TokenRaisingStore.class};
            return (LockStore) Proxy.newProxyInstance(
                    getClass().getClassLoader(), kind, (proxy, method, arguments) -> switch (method.getName()) {
                        case "renew" -> renew(inner, tickets(arguments[0]), (Deadline) arguments[1]);
                        case "extend" -> {
                            goOn.countDown();
                            late.await();
                            throw failure((Ticket) arguments[0]);
                        }
                        case "request" -> {
                            Object answer = call(() -> method.invoke(inner, arguments));
                            grants.incrementAndGet();
                            yield answer;
                        }
                        default -> call(() -> method.invoke(inner, arguments));
                    });
        }

        private Object renew(LockStore inner, List<Ticket> all, Deadline deadline) throws InterruptedException {
            inner.renew(all.subList(0, inTime), deadline);
            done.incrementAndGet();
            goOn.await();
            inner.renew(all.subList(inTime, all.size()), deadline);
            late.countDown();
            return null;
        }

        private static UnknownOutcomeException failure(Ticket ticket) {
            return new UnknownOutcomeException(ticket.name(), "no time left");
        }

        @SuppressWarnings("unchecked")
        private static List<Ticket> tickets(Object argument) {
            return (List<Ticket>) argument;
        }

        private interface Call {
            Object run() throws ReflectiveOperationException;
        }

        private static Object call(Call call) throws Throwable {
            try {
                return call.run();
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }
    }

    /** A ticket, and what was said of it. */
    private final class Held implements Ticket.Listener {

        private final AtomicInteger kept = new AtomicInteger();
        private final AtomicInteger failures = new AtomicInteger();
        private final Ticket ticket;

        Held(String name) {
            Origin origin = new Origin("test", "host", 42, "thread");
            ticket = new Ticket(
                    name, owners.next(), Demand.exclusive(), TTL, origin, new Validity(time, Duration.ZERO), this);
        }

        Duration left() {
            return Duration.ofNanos(ticket.endNanos() - time.nanoTime());
        }

        @Override
        public void kept() {
            kept.incrementAndGet();
        }

        @Override
        public void failing(LockException cause) {
            failures.incrementAndGet();
        }
    }

    /** Until its time is over. */
    private void renewAll() throws Exception {
        List<Ticket> all = new ArrayList<>();
        crowd.forEach(held -> all.add(held.ticket));
        int before = nodes.get(0).done.get();
        CompletableFuture<Void> renewing =
                CompletableFuture.runAsync(() -> store.renew(all, Deadline.after(time, TIME)));
        await().pollInterval(Duration.ofMillis(5))
                .until(() -> nodes.stream().allMatch(node -> node.done.get() > before));
        time.advance(TIME);
        renewing.get(20, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("P9 those that a majority has renewed are kept, the others are told")
    void thoseThatAMajorityHasRenewedAreKeptTheOthersAreTold() throws Exception {
        nodes.get(2).inTime = 0;

        renewAll();

        assertThat(crowd.subList(0, KEPT)).allSatisfy(held -> {
            assertThat(held.kept).hasValue(1);
            assertThat(held.failures).hasValue(0);
            assertThat(held.left()).isGreaterThan(TTL.minus(TIME).minusMillis(10));
        });
        assertThat(crowd.subList(KEPT, CROWD)).allSatisfy(held -> {
            assertThat(held.kept).hasValue(0);
            assertThat(held.failures).hasValue(1);
        });
    }

    @Test
    @DisplayName("P1 what only a minority has renewed ends when it would have")
    void whatOnlyAMinorityHasRenewedEndsWhenItWouldHave() throws Exception {
        nodes.get(1).inTime = 0;
        nodes.get(2).inTime = 0;

        renewAll();

        assertThat(crowd).allSatisfy(held -> {
            assertThat(held.kept).hasValue(0);
            assertThat(held.failures).hasValue(1);
            assertThat(held.left()).isLessThan(TTL.minus(TIME).minus(TIME));
        });
    }

    @Test
    @DisplayName("P5 an extension that fails is told, though an earlier renewal is answered meanwhile")
    void anExtensionThatFailsIsToldThoughAnEarlierRenewalIsAnsweredMeanwhile() throws Exception {
        nodes.forEach(node -> node.inTime = 0);
        renewAll();
        Held first = crowd.get(0);

        store.extend(first.ticket, Duration.ofHours(1), Deadline.after(time, TIME));

        assertThat(first.failures).hasValue(2);
        assertThat(first.kept).hasValue(1);
        assertThat(first.left()).isBetween(TTL.minusMillis(10), TTL);
    }
}
