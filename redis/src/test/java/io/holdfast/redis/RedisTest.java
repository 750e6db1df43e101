package io.holdfast.redis;

import io.holdfast.DistributedLock;
import io.holdfast.redis.script.LockKeys;
import io.holdfast.servers.RedisServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.commands.ProtocolCommand;

/** One server for a class of tests, clients that are closed after each, and a view from outside. */
abstract class RedisTest {

    private static final AtomicInteger NAMES = new AtomicInteger();

    static RedisServer server;
    static RedisClient redis;

    private final List<Runnable> opened = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void startServer() {
        server = RedisServer.builder().setting("enable-debug-command", "local").start();
        redis = RedisClient.create("127.0.0.1", server.port());
    }

    @AfterAll
    static void stopServer() {
        redis.close();
        server.close();
    }

    @AfterEach
    void closeClients() {
        opened.forEach(Runnable::run);
    }

    <T> T closing(T opened, Consumer<T> close) {
        this.opened.add(() -> close.accept(opened));
        return opened;
    }

    TestClient client() {
        return client(server.uri());
    }

    TestClient client(String uri) {
        return closing(new TestClient(uri), TestClient::close);
    }

    /** A lock no other test uses. */
    static String name() {
        return "lock-" + NAMES.incrementAndGet();
    }

    /** Locks no other test uses, all of one slot of a cluster. */
    static List<String> namesOfSlot(int slot, int count) {
        return Stream.generate(RedisTest::name)
                .filter(name -> keys(name).slot() == slot)
                .limit(count)
                .toList();
    }

    static LockKeys keys(String name) {
        return LockKeys.of(RedisConfig.DEFAULT_PREFIX, name);
    }

    static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(20)).pollInterval(Duration.ofMillis(5));
    }

    /** Waits until the server can publish to a client. */
    static void awaitSubscription(TestClient client) {
        String channel = "holdfast:client:" + client.id() + "*";
        await().until(() -> !((List<?>) command("PUBSUB", "CHANNELS", channel)).isEmpty());
    }

    /**
     * Leaves a connection of a client behind, once the one look at that server's settings needs none any more.
     *
     * @param at a server that no other client has looked at
     */
    static void settleIn(DistributedLock lock, RedisServer at) throws InterruptedException {
        lock.run(() -> {});
        try (RedisClient onlooker = RedisClient.create("127.0.0.1", at.port())) {
            AtomicInteger asked = new AtomicInteger();
            // Asking how often it was looked at is such a look too, counted from the next time on.
            await().until(() -> calls(onlooker, "info") > asked.getAndIncrement());
        }
        // If that look still has the connection, another is left behind.
        lock.run(() -> {});
    }

    /** Sends any command. */
    static Object command(String command, String... arguments) {
        return command(redis, command, arguments);
    }

    static Object command(UnifiedJedis to, String command, String... arguments) {
        ProtocolCommand name = () -> command.getBytes(StandardCharsets.US_ASCII);
        return to.executeCommand(new CommandArguments(name).addObjects((Object[]) arguments));
    }

    /** How often the server has run a command, as clients count them. */
    static long calls(String command) {
        return calls(redis, command);
    }

    static long calls(RedisClient at, String command) {
        Matcher matcher =
                Pattern.compile("cmdstat_" + command + ":calls=(\\d+)").matcher(at.info("commandstats"));
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }
}
