package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.proxy.TcpProxy;
import io.holdfast.redis.TestClient.TestTicket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.JedisPubSub;

/** A process is killed: its connections are closed. Or it is stopped: they stay open, and the server takes it for a listener. */
@DisplayName("P4 those behind a dead process with many tickets")
class DeadCrowdTest extends RedisTest {

    /** For a busy machine, beyond the second that is promised. Waiting for the dead one after the other would take longer still. */
    private static final Duration PATIENCE = Duration.ofMillis(3500);

    private String name;
    private TcpProxy proxy;
    private TestClient dying;
    private TestClient other;

    @BeforeEach
    void connect() {
        name = name();
        proxy = closing(TcpProxy.to(server.address()), TcpProxy::close);
        dying = client("redis://127.0.0.1:" + proxy.port());
        other = client();
    }

    private void die(boolean stopped) {
        if (stopped) {
            proxy.cut();
        } else {
            dying.close();
        }
    }

    private TestTicket ticket(TestClient client, Demand demand, int seconds) {
        return client.ticket(name, demand, Duration.ofSeconds(seconds));
    }

    private TestTicket queued(TestClient client, Demand demand, int seconds) {
        TestTicket ticket = client.enqueue(ticket(client, demand, seconds));
        assertThat(ticket.hasQueued()).isTrue();
        awaitSubscription(client);
        return ticket;
    }

    private static Duration timeUntilGranted(TestTicket ticket, long sinceNanos) {
        await().until(ticket::isGranted);
        return Duration.ofNanos(System.nanoTime() - sinceNanos);
    }

    @ParameterizedTest(name = "stopped: {0}")
    @ValueSource(booleans = {false, true})
    void getTheLockAfterItsTtlHoweverLongTheirOwn(boolean stopped) {
        dying.grant(ticket(dying, Demand.exclusive(), 3));
        for (int i = 0; i < 11; i++) {
            queued(dying, Demand.exclusive(), 3);
        }
        TestTicket patient = queued(other, Demand.exclusive(), 30);
        long last = System.nanoTime();

        die(stopped);

        assertThat(timeUntilGranted(patient, last))
                .isLessThan(Duration.ofSeconds(4).plus(PATIENCE));
    }

    @ParameterizedTest(name = "stopped: {0}")
    @ValueSource(booleans = {false, true})
    void getItToIfItsTicketsCameBetweenOthersThatLetGoQuickly(boolean stopped) {
        TestClient holder = client();
        List<TestTicket> quick = new ArrayList<>();
        quick.add(holder.grant(name));
        for (int i = 0; i < 9; i++) {
            quick.add(queued(holder, Demand.exclusive(), 30));
        }
        TestTicket brief = queued(dying, Demand.exclusive(), 3);
        TestTicket patient = queued(other, Demand.exclusive(), 30);

        for (TestTicket ticket : quick) {
            await().until(ticket::isGranted);
            holder.release(ticket);
        }
        await().until(brief::isGranted);
        dying.renew(brief);
        long renewed = System.nanoTime();
        die(stopped);

        assertThat(timeUntilGranted(patient, renewed))
                .isLessThan(Duration.ofSeconds(4).plus(PATIENCE));
    }

    @ParameterizedTest(name = "stopped: {0}")
    @ValueSource(booleans = {false, true})
    void asReadersGetInWhenAWriterThatWaitsIsDead(boolean stopped) {
        TestClient holder = client();
        holder.grant(ticket(holder, Demand.shared(), 30));
        queued(dying, Demand.exclusive(), 3);
        TestTicket reader = queued(other, Demand.shared(), 30);
        long last = System.nanoTime();

        die(stopped);

        assertThat(timeUntilGranted(reader, last))
                .isLessThan(Duration.ofSeconds(4).plus(PATIENCE));
    }

    @Test
    void asAWriterGetItAfterTheTtlOfAReaderThatOutlivedTheOthers() {
        TestTicket lasting = other.grant(ticket(other, Demand.shared(), 300));
        dying.grant(ticket(dying, Demand.shared(), 4));
        TestTicket writer = queued(other, Demand.exclusive(), 300);
        other.release(lasting);

        die(false);

        // Nobody keeps it, so nothing but its own look at the right moment brings it the lock.
        await().until(writer::isGranted);
    }

    @Test
    void getItAfterTheTtlOfATicketThatHadBeenMovedAside() {
        TestClient deaf = deaf();
        TestTicket first = other.grant(name);
        TestTicket aside = deaf.enqueue(deaf.ticket(name, Demand.exclusive(), Duration.ofSeconds(4)));
        TestTicket second = queued(other, Demand.exclusive(), 300);
        other.release(first);
        await().until(second::isGranted);
        TestTicket patient = queued(other, Demand.exclusive(), 300);
        // From now on somebody hears its messages, so that it counts as alive: as a client that has been stopped.
        listenOn("holdfast:client:" + deaf.id());
        assertThat(deaf.renew(aside)).isEqualTo(TestClient.Told.KEPT);

        other.release(second);

        assertThat(patient.news()).isZero();
        await().until(patient::isGranted);
    }

    @Test
    void getItWhereAForeignProgramHadItHoweverManyOfThemWaitInFront() {
        redis.set(keys(name).lock(), "somebody");
        for (int i = 0; i < 8; i++) {
            queued(dying, Demand.exclusive(), 3);
        }
        TestTicket patient = queued(other, Demand.exclusive(), 300);
        die(true);

        redis.del(keys(name).lock());

        await().until(patient::isGranted);
    }

    /** Without the right to listen. */
    private TestClient deaf() {
        command("ACL", "SETUSER", "deaf", "on", ">secret", "~*", "&*", "+@all", "-subscribe");
        return client("redis://deaf:secret@127.0.0.1:" + server.port());
    }

    private void listenOn(String channel) {
        JedisPubSub listener = new JedisPubSub() {};
        Thread thread = new Thread(() -> redis.subscribe(listener, channel), "listener");
        thread.setDaemon(true);
        thread.start();
        closing(listener, JedisPubSub::unsubscribe);
        await().until(listener::isSubscribed);
    }

    @Test
    void areNotRefusedAsReadersOnceAWriterThatWaitsIsKilled() {
        TestClient holder = client();
        holder.grant(ticket(holder, Demand.shared(), 30));
        queued(dying, Demand.exclusive(), 30);
        assertThat(other.attempt(ticket(other, Demand.shared(), 30))).isPresent();

        die(false);

        awaitNobodyListens(dying);
        assertThat(other.attempt(ticket(other, Demand.shared(), 30))).isEmpty();
    }

    @Test
    void areNotRefusedPermitsOnceAGreedyOneThatWaitsIsKilled() {
        TestClient holder = client();
        holder.grant(ticket(holder, Demand.permits(1, 3), 30));
        queued(dying, Demand.permits(3, 3), 30);
        assertThat(other.attempt(ticket(other, Demand.permits(1, 3), 30))).isPresent();

        die(false);

        awaitNobodyListens(dying);
        assertThat(other.attempt(ticket(other, Demand.permits(1, 3), 30))).isEmpty();
    }

    private static void awaitNobodyListens(TestClient client) {
        String channel = "holdfast:client:" + client.id() + "*";
        await().until(() -> ((List<?>) command("PUBSUB", "CHANNELS", channel)).isEmpty());
    }
}
