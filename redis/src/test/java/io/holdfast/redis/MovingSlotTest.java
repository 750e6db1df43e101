package io.holdfast.redis;

import static io.holdfast.redis.RedisTest.await;
import static io.holdfast.redis.RedisTest.command;
import static io.holdfast.redis.RedisTest.keys;
import static io.holdfast.redis.RedisTest.name;
import static io.holdfast.redis.TopologyConformanceTest.hosts;
import static io.holdfast.redis.TopologyConformanceTest.minimalAcl;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.redis.TestClient.TestTicket;
import io.holdfast.redis.TestClient.Told;
import io.holdfast.redis.server.Replies;
import io.holdfast.servers.RedisCluster;
import io.holdfast.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
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
            for (String key : keys(name).all()) {
                command(from, "MIGRATE", "127.0.0.1", String.valueOf(after.port()), key, "0", "5000");
            }
            command(to, "CLUSTER", "SETSLOT", slot, "NODE", toId);
            command(from, "CLUSTER", "SETSLOT", slot, "NODE", toId);
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
