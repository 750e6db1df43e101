package io.holdfast.redis;

import static io.holdfast.redis.RedisTest.await;
import static io.holdfast.redis.RedisTest.command;
import static io.holdfast.redis.RedisTest.keys;
import static io.holdfast.redis.RedisTest.name;
import static io.holdfast.redis.RedisTest.namesOfSlot;
import static io.holdfast.redis.TopologyConformanceTest.hosts;
import static io.holdfast.redis.TopologyConformanceTest.minimalAcl;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import io.holdfast.StoreUnavailableException;
import io.holdfast.redis.TestClient.TestTicket;
import io.holdfast.redis.TestClient.Told;
import io.holdfast.redis.server.Replies;
import io.holdfast.servers.RedisCluster;
import io.holdfast.servers.RedisServer;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.Ticket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.RedisClient;

@DisplayName("A lock that moves to another server of the cluster while it is held and waited for")
class MovingSlotTest {

    private static RedisCluster cluster;

    private final List<TestClient> clients = new ArrayList<>();
    private String name;
    private RedisServer before;
    private RedisServer after;
    private TestClient holder;
    private TestClient first;
    private TestClient second;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.builder()
                .each(node -> node.acl("user default on nopass +@all ~* &*", minimalAcl()))
                .start();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @BeforeEach
    void connect() {
        name = name();
        before = cluster.primaryFor(keys(name).lock());
        after = cluster.nodes().stream()
                .filter(node -> node != before)
                .findFirst()
                .orElseThrow();
        holder = client();
        first = client();
        second = client();
    }

    @AfterEach
    void close() {
        clients.forEach(TestClient::close);
    }

    private TestClient client() {
        TestClient client = new TestClient("redis-cluster://holdfast:secret@" + hosts(cluster.nodes()));
        clients.add(client);
        return client;
    }

    private TestTicket queued(TestClient client, Duration ttl) {
        TestTicket ticket = client.enqueue(client.ticket(name, Demand.exclusive(), ttl));
        assertThat(ticket.hasQueued()).isTrue();
        awaitSubscription(client, before);
        return ticket;
    }

    private static void awaitSubscription(TestClient client, RedisServer at) {
        try (RedisClient redis = RedisClient.create("127.0.0.1", at.port())) {
            String channel = "holdfast:client:" + client.id() + "*";
            await().until(() -> !((List<?>) command(redis, "PUBSUB", "CHANNELS", channel)).isEmpty());
        }
    }

    /** Its client learns of the move, and listens where the lock is now. */
    private void heartbeat(TestClient client, TestTicket ticket) {
        assertThat(client.renew(ticket)).isEqualTo(Told.KEPT);
        awaitSubscription(client, after);
        assertThat(client.renew(ticket)).isEqualTo(Told.KEPT);
    }

    private void moveTheLock() {
        String slot = String.valueOf(keys(name).slot());
        try (RedisClient from = RedisClient.create("127.0.0.1", before.port());
                RedisClient to = RedisClient.create("127.0.0.1", after.port())) {
            String fromId = Replies.text(command(from, "CLUSTER", "MYID"));
            String toId = Replies.text(command(to, "CLUSTER", "MYID"));
            command(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", fromId);
            command(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", toId);
            // As redis-cli does: whatever there is, until there is nothing.
            for (List<String> left = keysIn(slot, from); !left.isEmpty(); left = keysIn(slot, from)) {
                left.forEach(key -> migrate(from, key));
            }
            command(to, "CLUSTER", "SETSLOT", slot, "NODE", toId);
            command(from, "CLUSTER", "SETSLOT", slot, "NODE", toId);
        }
    }

    private static List<String> keysIn(String slot, RedisClient at) {
        return ((List<?>) command(at, "CLUSTER", "GETKEYSINSLOT", slot, "100"))
                .stream().map(Replies::text).toList();
    }

    private void markAsMigrating(RedisClient from, RedisClient to) {
        String slot = String.valueOf(keys(name).slot());
        command(to, "CLUSTER", "SETSLOT", slot, "IMPORTING", Replies.text(command(from, "CLUSTER", "MYID")));
        command(from, "CLUSTER", "SETSLOT", slot, "MIGRATING", Replies.text(command(to, "CLUSTER", "MYID")));
    }

    private void markAsStable(RedisClient from, RedisClient to) {
        String slot = String.valueOf(keys(name).slot());
        command(from, "CLUSTER", "SETSLOT", slot, "STABLE");
        command(to, "CLUSTER", "SETSLOT", slot, "STABLE");
    }

    @ParameterizedTest
    @ValueSource(strings = {"exclusive", "shared", "permits"})
    void isRenewedWhileItsSlotIsLeftOnTheWay(String kind) {
        Demand demand = switch (kind) {
            case "shared" -> Demand.shared();
            case "permits" -> Demand.permits(2, 3);
            default -> Demand.exclusive();
        };
        TestTicket held = holder.grant(holder.ticket(name, demand, TestClient.TTL));
        try (RedisClient from = RedisClient.create("127.0.0.1", before.port());
                RedisClient to = RedisClient.create("127.0.0.1", after.port())) {
            markAsMigrating(from, to);
            try {
                assertThat(holder.renew(held)).isEqualTo(Told.KEPT);
                migrate(from, keys(name).lock());
                assertThat(holder.renew(held)).isEqualTo(Told.KEPT);
            } finally {
                moveTheLock();
            }
            assertThat(holder.renew(held)).isEqualTo(Told.KEPT);
            assertThat(holder.release(held)).isEqualTo(ReleaseAnswer.RELEASED);
        }
    }

    @Test
    void isRenewedBesideAnotherOfItsSlotThatHasNotMovedYet() {
        List<TestTicket> both =
                namesOfSlot(keys(name).slot(), 2).stream().map(holder::grant).toList();
        try (RedisClient from = RedisClient.create("127.0.0.1", before.port());
                RedisClient to = RedisClient.create("127.0.0.1", after.port())) {
            markAsMigrating(from, to);
            try {
                migrate(from, keys(both.get(0).ticket().name()).lock());

                holder.store.renew(
                        both.stream().map(TestTicket::ticket).toList(), holder.within(Duration.ofSeconds(5)));

                assertThat(both).extracting(held -> held.kept.get()).containsExactly(1, 1);
            } finally {
                moveTheLock();
            }
        }
    }

    private void migrate(RedisClient from, String key) {
        command(from, "MIGRATE", "127.0.0.1", String.valueOf(after.port()), key, "0", "5000");
    }

    @Test
    void ofWhichTwoServersNameEachOtherIsNotAskedForWithoutPause() {
        String slot = String.valueOf(keys(name).slot());
        holder.attempt(name() + "-warm");
        try (RedisClient from = RedisClient.create("127.0.0.1", before.port());
                RedisClient to = RedisClient.create("127.0.0.1", after.port())) {
            String fromId = Replies.text(command(from, "CLUSTER", "MYID"));
            command(from, "CLUSTER", "SETSLOT", slot, "NODE", Replies.text(command(to, "CLUSTER", "MYID")));
            try {
                long earlier = redirections(from) + redirections(to);

                assertThatThrownBy(() -> holder.store.request(
                                holder.ticket(name).ticket(), Mode.TRY, holder.within(Duration.ofSeconds(2))))
                        .isInstanceOf(StoreUnavailableException.class);

                assertThat(redirections(from) + redirections(to) - earlier).isBetween(2L, 200L);
            } finally {
                command(from, "CLUSTER", "SETSLOT", slot, "NODE", fromId);
            }
        }
    }

    private static long redirections(RedisClient at) {
        Matcher matcher = Pattern.compile("errorstat_MOVED:count=(\\d+)").matcher(at.info("errorstats"));
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    @Test
    void doesNotDelayTheRenewalsOfOthersOnTheSameServer() {
        List<TestTicket> here = new ArrayList<>();
        for (int i = 0; here.size() < 20; i++) {
            String neighbour = name + "-" + i;
            if (cluster.primaryFor(keys(neighbour).lock()) == before) {
                here.add(holder.grant(neighbour));
            }
        }
        TestTicket held = holder.grant(name);
        TestTicket waiting = queued(first, TestClient.TTL);
        try (RedisClient from = RedisClient.create("127.0.0.1", before.port());
                RedisClient to = RedisClient.create("127.0.0.1", after.port())) {
            markAsMigrating(from, to);
            try {
                List<Ticket> all = new ArrayList<>(List.of(waiting.ticket(), held.ticket()));
                here.forEach(ticket -> all.add(ticket.ticket()));
                long start = System.nanoTime();

                holder.store.renew(all, holder.within(Duration.ofSeconds(5)));

                // One that waited for the slot would wait until its deadline.
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
                assertThat(here).allMatch(ticket -> ticket.kept.get() == 1);
                assertThat(held.kept.get()).isEqualTo(1);
            } finally {
                markAsStable(from, to);
            }
        }
    }

    private static TestTicket pushed(TestTicket ticket) {
        await().until(ticket::isGranted);
        return ticket;
    }

    /** A message published at one server is heard at all of them, though only the subscribers at that one are counted. */
    @Test
    void goesToOneWaiterOnlyAndInOrderThoughTheFirstListensWhereTheLockWas() {
        TestTicket held = holder.grant(name);
        TestTicket ahead = queued(first, TestClient.TTL);
        TestTicket behind = queued(second, TestClient.TTL);
        moveTheLock();
        heartbeat(second, behind);

        holder.release(held);

        TestTicket granted = pushed(ahead);
        assertThat(first.renew(granted)).isEqualTo(Told.KEPT);
        assertThat(behind.news()).isZero();
        first.release(granted);
        assertThat(pushed(behind).token()).isGreaterThan(granted.token());
    }

    @Test
    void passesADeadWaiterWhenItsTicketIsUp() {
        TestTicket held = holder.grant(name);
        queued(first, Duration.ofSeconds(3));
        TestTicket behind = queued(second, TestClient.TTL);
        moveTheLock();
        heartbeat(second, behind);
        first.close();

        holder.release(held);

        assertThat(pushed(behind).token()).isGreaterThan(held.token());
    }
}
