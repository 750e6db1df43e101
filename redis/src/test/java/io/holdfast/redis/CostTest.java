package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.redis.TestClient.TestTicket;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Counted are the commands that scripts call, as the server does. */
@DisplayName("P9 what a request costs at the server")
class CostTest extends RedisTest {

    private static final Pattern CALLS = Pattern.compile("cmdstat_([a-z|]+):calls=(\\d+),usec=(\\d+)");
    /** Of the test, of subscribers, and of connections that are opened. */
    private static final Set<String> NOT_OF_SCRIPTS =
            Set.of("info", "ping", "subscribe", "pubsub|channels", "client|setname", "client|setinfo", "hello");

    private static final int FEW = 10;
    private static final int MANY = 1_000;
    private static final int VERY_MANY = 10_000;

    private final TestClient crowd = client();
    private final TestClient client = client();

    /** Both listen, have a connection, and have looked at the server's settings. */
    @BeforeEach
    void settleIn() {
        for (TestClient one : List.of(crowd, client)) {
            TestTicket held = one.grant(name());
            awaitSubscription(one);
            one.release(held);
        }
        // So that the server knows all scripts.
        withInTheQueue(1);
        AtomicLong last = new AtomicLong();
        await().pollInterval(Duration.ofMillis(150)).until(() -> last.getAndSet(all()) == all());
    }

    /** How many commands something took, without those that look at them. */
    private static long commands(Runnable request) {
        long before = all();
        request.run();
        return all() - before;
    }

    private static long all() {
        long calls = 0;
        Matcher matcher = CALLS.matcher(redis.info("commandstats"));
        while (matcher.find()) {
            if (!NOT_OF_SCRIPTS.contains(matcher.group(1))) {
                calls += Long.parseLong(matcher.group(2));
            }
        }
        return calls;
    }

    @Test
    void ofAFreeLockIsFourCommandsToTakeItAndThreeToRelease() {
        client.release(client.grant(name()));
        String name = name();
        List<TestTicket> held = new ArrayList<>();

        // And the script itself.
        assertThat(commands(() -> held.add(client.grant(name)))).isEqualTo(1 + 4);
        assertThat(commands(() -> client.renew(held.get(0)))).isEqualTo(1 + 3);
        assertThat(commands(() -> client.release(held.get(0)))).isEqualTo(1 + 3);
    }

    @Test
    void doesNotGrowWithTheNumberOfTicketsInTheQueue() {
        assertThat(withInTheQueue(MANY)).isEqualTo(withInTheQueue(FEW));
    }

    @Test
    @Tag("full")
    void doesNotGrowWithTenThousandTicketsInTheQueue() {
        assertThat(withInTheQueue(VERY_MANY)).isEqualTo(withInTheQueue(FEW));
    }

    private Map<String, Long> withInTheQueue(int size) {
        String name = name();
        TestTicket held = client.grant(name);
        List<TestTicket> queue = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            queue.add(crowd.enqueue(crowd.ticket(name, Demand.exclusive(), Duration.ofHours(1))));
        }
        awaitSubscription(crowd);
        TestTicket middle = queue.get(size / 2);
        TestTicket late = client.enqueue(client.ticket(name, Demand.exclusive(), Duration.ofMinutes(30)));
        Map<String, Long> commands = new LinkedHashMap<>();
        commands.put("attempt", commands(() -> client.attempt(name)));
        commands.put(
                "enqueue",
                commands(() -> client.enqueue(client.ticket(name, Demand.exclusive(), Duration.ofMinutes(30)))));
        commands.put("renew", commands(() -> client.renew(held)));
        commands.put("heartbeat", commands(() -> crowd.renew(middle)));
        commands.put("withdraw", commands(() -> client.withdraw(late)));
        commands.put("release", commands(() -> client.release(held)));
        assertThat(queue.get(0).ticket().state()).isNotEqualTo(Ticket.State.ENDED);
        return commands;
    }

    @Test
    void doesNotGrowWithTheNumberOfHolders() {
        assertThat(withHolders(Demand.shared(), MANY)).isEqualTo(withHolders(Demand.shared(), FEW));
        Demand one = Demand.permits(1, 20_000);
        assertThat(withHolders(one, MANY)).isEqualTo(withHolders(one, FEW));
    }

    @Test
    @Tag("full")
    void doesNotGrowWithTenThousandHolders() {
        assertThat(withHolders(Demand.shared(), VERY_MANY)).isEqualTo(withHolders(Demand.shared(), FEW));
    }

    private Map<String, Long> withHolders(Demand demand, int size) {
        String name = name();
        for (int i = 0; i < size; i++) {
            crowd.grant(crowd.ticket(name, demand, Duration.ofHours(1)));
        }
        TestTicket one = client.grant(client.ticket(name, demand, Duration.ofHours(1)));
        Map<String, Long> commands = new LinkedHashMap<>();
        commands.put("attempt", commands(() -> client.attempt(client.ticket(name, demand, TestClient.TTL))));
        commands.put("refused", commands(() -> client.attempt(name)));
        commands.put("renew", commands(() -> client.renew(one)));
        commands.put("release", commands(() -> client.release(one)));
        return commands;
    }

    @Test
    void ofRenewingManyReadersIsThatOfOne() {
        String name = name();
        List<Ticket> readers = new ArrayList<>();
        for (int i = 0; i < 250; i++) {
            readers.add(client.grant(client.ticket(name, Demand.shared(), TestClient.TTL))
                    .ticket());
        }

        long one = commands(() -> client.store.renew(readers.subList(0, 1), client.soon()));

        assertThat(commands(() -> client.store.renew(readers, client.soon()))).isEqualTo(one);
    }

    @Test
    void ofADeadTicketIsPaidOnce() {
        String name = name();
        TestTicket held = client.grant(name);
        TestClient dead = client();
        for (int i = 0; i < 90; i++) {
            dead.enqueue(name);
        }
        awaitSubscription(dead);
        TestTicket live = crowd.enqueue(name);
        TestTicket next = crowd.enqueue(name);
        awaitSubscription(crowd);
        dead.close();
        String channel = "holdfast:client:" + dead.id();
        await().until(() -> ((List<?>) command("PUBSUB", "CHANNELS", channel)).isEmpty());

        assertThat(commands(() -> client.release(held))).isGreaterThan(3 * 90);
        await().until(live::isGranted);
        assertThat(commands(() -> crowd.renew(next))).isLessThan(20);
        assertThat(commands(() -> crowd.release(live))).isLessThan(20);
        await().until(next::isGranted);
    }

    @Test
    void isBoundedPerScriptAndTheRestFollowsByItself() {
        String name = name();
        TestTicket writer = client.grant(name);
        List<TestTicket> readers = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            readers.add(crowd.enqueue(crowd.ticket(name, Demand.shared(), Duration.ofMinutes(10))));
        }
        awaitSubscription(crowd);
        long before = calls("evalsha");

        client.release(writer);

        await().until(() -> readers.stream().allMatch(TestTicket::isGranted));
        assertThat(calls("evalsha") - before).isBetween(9L, 14L);
    }

    @Test
    void ofWaitingForManyReadersThatExpireOneAfterTheOtherIsAFewLooks() {
        String name = name();
        for (int i = 0; i < 300; i++) {
            crowd.grant(crowd.ticket(name, Demand.shared(), Duration.ofMillis(2_000 + 5 * i)));
        }
        TestTicket writer = client.enqueue(client.ticket(name, Demand.exclusive(), Duration.ofHours(1)));
        long before = calls("evalsha");

        await().until(writer::isGranted);

        assertThat(calls("evalsha") - before).isLessThan(40);
    }

    @Test
    void isBoundedForATryBehindManyThatHaveExpired() {
        String name = name();
        for (int i = 0; i < 350; i++) {
            crowd.grant(crowd.ticket(name, Demand.permits(1, 1_000), Duration.ofSeconds(4)));
        }
        TestTicket lasting = client.grant(client.ticket(name, Demand.permits(650, 1_000), TestClient.TTL));
        await().until(() -> client.store.view(name, client.soon()).holders().size() == 1);
        long before = calls("evalsha");

        assertThat(client.attempt(client.ticket(name, Demand.permits(350, 1_000), TestClient.TTL)))
                .isEmpty();

        assertThat(calls("evalsha") - before).isBetween(2L, 5L);
        assertThat(client.release(lasting)).isEqualTo(io.holdfast.spi.ReleaseAnswer.RELEASED);
    }
}
