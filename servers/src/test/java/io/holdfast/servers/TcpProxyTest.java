package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.proxy.Direction;
import io.holdfast.proxy.RequestCounter;
import io.holdfast.proxy.TcpProxy;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Of the module {@code proxy}; it is here because it needs a server. */
class TcpProxyTest {

    private static final int SHORT_MILLIS = 300;
    private static final int LONG_MILLIS = 20_000;

    private static RedisServer redis;

    private TcpProxy proxy;

    @BeforeAll
    static void startServer() {
        redis = RedisServer.start();
    }

    @AfterAll
    static void closeServer() {
        redis.close();
    }

    @BeforeEach
    void startProxy() {
        proxy = TcpProxy.to(redis.address(), RequestCounter::resp);
    }

    @AfterEach
    void closeProxy() {
        proxy.close();
    }

    @Test
    void passesEverythingOnBothWays() {
        String large = "x".repeat(5_000_000);
        try (Jedis jedis = client(LONG_MILLIS)) {
            jedis.set("large", large);
            assertThat(jedis.get("large")).isEqualTo(large);
        }
        assertThat(proxy.bytes(Direction.TO_SERVER)).isGreaterThan(large.length());
        assertThat(proxy.bytes(Direction.TO_CLIENT)).isGreaterThan(large.length());
    }

    @Test
    void countsEveryCommandOfAPipeline() {
        try (Jedis jedis = client(LONG_MILLIS)) {
            jedis.ping();
            long requests = proxy.requests(Direction.TO_SERVER);
            long replies = proxy.requests(Direction.TO_CLIENT);
            try (Pipeline pipeline = jedis.pipelined()) {
                for (int i = 0; i < 1_000; i++) {
                    pipeline.set("key" + i, "a\r\n*3\r\n$1\r\nvalue that looks like protocol");
                }
                pipeline.sync();
            }
            assertThat(proxy.requests(Direction.TO_SERVER) - requests).isEqualTo(1_000);
            assertThat(proxy.requests(Direction.TO_CLIENT) - replies).isEqualTo(1_000);
        }
    }

    @Test
    void countsConnections() {
        try (Jedis first = client(LONG_MILLIS)) {
            try (Jedis second = client(LONG_MILLIS)) {
                first.ping();
                second.ping();
                assertThat(proxy.connections()).isEqualTo(2);
                assertThat(proxy.openConnections()).isEqualTo(2);
            }
            await().until(() -> proxy.openConnections() == 1);
        }
        await().until(() -> proxy.openConnections() == 0);
        assertThat(proxy.connections()).isEqualTo(2);
    }

    @Test
    void countsTurnsWhereItKnowsNoProtocol() {
        try (TcpProxy plain = TcpProxy.to(redis.address());
                Jedis jedis = new Jedis("127.0.0.1", plain.port(), LONG_MILLIS)) {
            jedis.ping();
            long before = plain.requests(Direction.TO_SERVER);
            for (int i = 0; i < 10; i++) {
                jedis.ping();
            }
            assertThat(plain.requests(Direction.TO_SERVER) - before).isEqualTo(10);
        }
    }

    @Test
    void delaysEachWayByItself() {
        try (Jedis jedis = client(LONG_MILLIS)) {
            jedis.ping();
            proxy.delay(Direction.TO_SERVER, Duration.ofMillis(150));
            assertThat(millis(jedis::ping)).isGreaterThanOrEqualTo(150);

            proxy.delay(Duration.ofMillis(100));
            assertThat(millis(jedis::ping)).isGreaterThanOrEqualTo(200);

            proxy.heal();
            await().until(() -> millis(jedis::ping) < 150);
        }
    }

    @Test
    void delaysManyRequestsAtOnceNotOneAfterTheOther() throws Exception {
        proxy.delay(Duration.ofMillis(200));
        try (Socket socket = new Socket("127.0.0.1", proxy.port())) {
            socket.setSoTimeout(LONG_MILLIS);
            long startNanos = System.nanoTime();
            for (int sent = 1; sent <= 50; sent++) {
                socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
                while (proxy.requests(Direction.TO_SERVER) < sent) {
                    Thread.onSpinWait(); // so that the proxy reads each by itself
                }
            }
            assertThat(socket.getInputStream().readNBytes(50 * 7)).asString().startsWith("+PONG\r\n");
            assertThat(Duration.ofNanos(System.nanoTime() - startNanos).toMillis())
                    .isBetween(400L, 9_000L);
        }
    }

    @Test
    void cutsBothWaysAndDeliversWhatWasHeldWhenHealed() {
        try (Jedis jedis = client(LONG_MILLIS)) {
            jedis.set("cut", "before");
            proxy.cut();
            long before = proxy.requests(Direction.TO_SERVER);
            CompletableFuture<String> held = CompletableFuture.supplyAsync(() -> jedis.set("cut", "after"));
            await().until(() -> proxy.requests(Direction.TO_SERVER) > before);
            assertThat(direct("cut")).isEqualTo("before");
            assertThat(held).isNotDone();

            proxy.heal();

            assertThat(held).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("OK");
            assertThat(direct("cut")).isEqualTo("after");
        }
    }

    @Test
    void cutsTheRepliesOnlyAndDeliversThemWhenHealed() {
        try (Jedis jedis = client(LONG_MILLIS)) {
            jedis.ping();
            proxy.cut(Direction.TO_CLIENT);
            CompletableFuture<String> held = CompletableFuture.supplyAsync(() -> jedis.set("one-way", "done"));
            await().until(() -> direct("one-way").equals("done"));
            assertThat(held).isNotDone();

            proxy.heal();

            assertThat(held).succeedsWithin(Duration.ofSeconds(20)).isEqualTo("OK");
        }
    }

    @Test
    void acceptsButDoesNotReachTheServerWhileCut() {
        proxy.cut();
        long before = connectionsSeenByServer();
        assertThatThrownBy(() -> {
                    try (Jedis jedis = client(SHORT_MILLIS)) {
                        jedis.ping();
                    }
                })
                .isInstanceOf(JedisConnectionException.class)
                .hasRootCauseInstanceOf(SocketTimeoutException.class);
        assertThat(connectionsSeenByServer())
                .as("connections, that of the question itself included")
                .isEqualTo(before + 1);
        proxy.heal();
        try (Jedis jedis = client(LONG_MILLIS)) {
            assertThat(jedis.ping()).isEqualTo("PONG");
        }
        await().until(() -> proxy.openConnections() == 0);
    }

    @Test
    void dropsRepliesWhileRequestsGoThroughAndResetsTheTornConnectionWhenHealed() {
        try (Jedis jedis = client(LONG_MILLIS);
                Jedis patient = client(LONG_MILLIS)) {
            patient.ping();
            jedis.ping();
            proxy.dropReplies();
            impatient(jedis);
            assertThatThrownBy(() -> jedis.set("dropped", "done")).isInstanceOf(JedisConnectionException.class);
            await().until(() -> direct("dropped").equals("done"));
            long before = proxy.requests(Direction.TO_CLIENT);
            CompletableFuture<String> waiting = CompletableFuture.supplyAsync(patient::ping);
            await().until(() -> proxy.requests(Direction.TO_CLIENT) > before);

            proxy.heal();

            assertThat(waiting)
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableThat()
                    .withRootCauseInstanceOf(SocketException.class);
        }
    }

    @Test
    void swallowsRequests() {
        try (Jedis jedis = client(LONG_MILLIS)) {
            jedis.set("swallowed", "before");
            proxy.swallow(Direction.TO_SERVER);
            impatient(jedis);
            assertThatThrownBy(() -> jedis.set("swallowed", "after")).isInstanceOf(JedisConnectionException.class);
        }
        proxy.heal();
        assertThat(direct("swallowed")).isEqualTo("before");
    }

    @Test
    void resetsConnectionsAndTakesNewOnes() throws Exception {
        try (Socket socket = new Socket("127.0.0.1", proxy.port())) {
            socket.setSoTimeout(LONG_MILLIS);
            assertPong(socket);

            proxy.resetConnections();

            assertThatThrownBy(() -> socket.getInputStream().read())
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("reset");
        }
        try (Jedis jedis = client(LONG_MILLIS)) {
            assertThat(jedis.ping()).isEqualTo("PONG");
        }
    }

    @Test
    void refusesNewConnectionsWhileOpenOnesGoOn() throws Exception {
        try (Jedis open = client(LONG_MILLIS);
                Socket refused = new Socket()) {
            open.ping();
            proxy.refuseConnections();

            assertThatThrownBy(() -> refused.connect(proxy.address(), LONG_MILLIS))
                    .isInstanceOf(ConnectException.class);
            assertThat(open.ping()).isEqualTo("PONG");
        }
        proxy.heal();
        try (Jedis jedis = client(LONG_MILLIS)) {
            assertThat(jedis.ping()).isEqualTo("PONG");
        }
    }

    @Test
    void sendsNewConnectionsToItsNewTarget() {
        try (RedisServer other = RedisServer.start();
                Jedis old = client(LONG_MILLIS)) {
            old.set("where", "old server");
            proxy.retarget(other.address());
            try (Jedis young = client(LONG_MILLIS)) {
                assertThat(young.exists("where")).isFalse();
            }
            assertThat(old.get("where")).isEqualTo("old server");
        }
    }

    @Test
    void passesOnThatTheServerDied() throws Exception {
        try (RedisServer mortal = RedisServer.start();
                TcpProxy toMortal = TcpProxy.to(mortal.address())) {
            try (Socket socket = new Socket("127.0.0.1", toMortal.port())) {
                socket.setSoTimeout(LONG_MILLIS);
                assertPong(socket);
                mortal.kill();
                assertThat(socket.getInputStream().read()).isEqualTo(-1);
            }
            await().until(() -> toMortal.openConnections() == 0);
        }
    }

    @Test
    void hidesTheDeathOfTheServerWhileRepliesAreCut() {
        try (RedisServer mortal = RedisServer.start();
                TcpProxy toMortal = TcpProxy.to(mortal.address());
                Jedis jedis = new Jedis("127.0.0.1", toMortal.port(), LONG_MILLIS)) {
            jedis.ping();
            toMortal.cut(Direction.TO_CLIENT);
            mortal.kill();
            impatient(jedis);
            assertThatThrownBy(jedis::ping).hasRootCauseInstanceOf(SocketTimeoutException.class);
        }
    }

    @Test
    void endsItsThreadAndItsConnectionsWhenClosed() throws Exception {
        String threadName = "holdfast-proxy-" + proxy.port();
        InetSocketAddress address = proxy.address();
        try (Socket socket = new Socket("127.0.0.1", proxy.port())) {
            socket.setSoTimeout(LONG_MILLIS);
            assertPong(socket);
            assertThat(threadNames()).contains(threadName);

            proxy.close();
            proxy.close();

            assertThat(threadNames()).doesNotContain(threadName);
            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> new Socket(address.getAddress(), address.getPort()))
                    .isInstanceOf(ConnectException.class);
            assertThatThrownBy(proxy::cut).isInstanceOf(IllegalStateException.class);
        }
    }

    private static void assertPong(Socket socket) throws IOException {
        socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.US_ASCII));
        assertThat(socket.getInputStream().readNBytes(7)).asString().isEqualTo("+PONG\r\n");
    }

    private Jedis client(int timeoutMillis) {
        return new Jedis(
                new HostAndPort("127.0.0.1", proxy.port()),
                DefaultJedisClientConfig.builder().timeoutMillis(timeoutMillis).build());
    }

    /** From when on it waits for something that does not come; before, a busy machine may need its time. */
    private static void impatient(Jedis jedis) {
        jedis.getConnection().setSoTimeout(SHORT_MILLIS);
    }

    private static long connectionsSeenByServer() {
        return Long.parseLong(redis.info("INFO", "stats").get("total_connections_received"));
    }

    private static String direct(String key) {
        try (Jedis jedis = new Jedis("127.0.0.1", redis.port())) {
            String value = jedis.get(key);
            return value == null ? "" : value;
        }
    }

    private static List<String> threadNames() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).toList();
    }

    private static long millis(Runnable action) {
        long startNanos = System.nanoTime();
        action.run();
        return Duration.ofNanos(System.nanoTime() - startNanos).toMillis();
    }
}
