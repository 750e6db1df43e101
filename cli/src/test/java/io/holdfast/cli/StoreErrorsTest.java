package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.servers.EtcdServer;
import io.holdfast.servers.RedisServer;
import io.holdfast.servers.wire.TlsMaterial;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

@DisplayName("what the command says of servers that do not do as hoped")
class StoreErrorsTest {

    private static final String CANARY = "canary-7f3a";

    private static TlsMaterial material;
    private static RedisServer redis;
    private static RedisServer locked;
    private static RedisServer secured;
    private static EtcdServer etcd;
    private static EtcdServer securedEtcd;
    private static ServerSocket web;

    @TempDir
    Path directory;

    @BeforeAll
    static void start() throws IOException {
        material = TlsMaterial.generate();
        redis = RedisServer.start();
        locked = RedisServer.builder().password(CANARY).start();
        secured = RedisServer.builder().tls(material).start();
        etcd = EtcdServer.start();
        securedEtcd = EtcdServer.builder().tls(material).start();
        web = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread serving = new Thread(StoreErrorsTest::serveWebPages, "web");
        serving.setDaemon(true);
        serving.start();
        // What a first request of a JVM costs, classes of gRPC above all, is not what these tests are about.
        for (String store : List.of(at("redis", redis.port()), at("etcd", etcd.port()))) {
            await().atMost(HoldfastProcess.PATIENCE)
                    .until(() -> Captured.of("ls", "--store", store).exitCode() == 0);
        }
    }

    @AfterAll
    static void stop() throws IOException {
        web.close();
        redis.close();
        locked.close();
        secured.close();
        etcd.close();
        securedEtcd.close();
    }

    /** Answers everything as a web server answers what it does not understand. */
    private static void serveWebPages() {
        while (!web.isClosed()) {
            try (Socket caller = web.accept();
                    InputStream in = caller.getInputStream()) {
                in.read(new byte[1024]);
                caller.getOutputStream().write("<html>400 Bad Request</html>\r\n".getBytes(StandardCharsets.US_ASCII));
                caller.getOutputStream().flush();
                caller.shutdownOutput();
                in.readAllBytes();
            } catch (IOException e) {
                // The caller has gone, or the test is over.
            }
        }
    }

    private static void says(String store, String... words) {
        Captured shown = Captured.of("show", "job", "--store", store);

        assertThat(shown.exitCode()).as(shown.err()).isEqualTo(69);
        assertThat(shown.out()).isEmpty();
        assertThat(shown.err())
                .startsWith("holdfast: cannot look at lock 'job': ")
                .hasLineCount(1)
                .contains(Arrays.asList(words))
                .doesNotContain(CANARY, "Exception", "Channel Pipeline", "io exception", "UNAVAILABLE", "()", "..");
    }

    private static String at(String scheme, int port) {
        return scheme + "://127.0.0.1:" + port;
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "rediss", "etcd", "etcds"})
    void nobodyListens(String scheme) throws IOException {
        // Bound, so that no other gets the port, and not listened at.
        try (Socket bound = new Socket()) {
            bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            int port = bound.getLocalPort();
            says(at(scheme, port), "cannot connect to 127.0.0.1:" + port, "Connection refused", "running", "port");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"redis", "etcd"})
    void theHostIsUnknown(String scheme) {
        says(scheme + "://no-such-host.invalid", "host 'no-such-host.invalid' is unknown", "check its name");
    }

    @Test
    void aWebServerIsNoRedis() {
        says(at("redis", web.getLocalPort()), "127.0.0.1:" + web.getLocalPort(), "does not speak", "'<'", "port");
    }

    @Test
    void aWebServerIsNoEtcd() {
        says(at("etcd", web.getLocalPort()), "127.0.0.1:" + web.getLocalPort(), "does not speak", "port");
    }

    @Test
    void redisIsNoEtcd() {
        says(at("etcd", redis.port()), "127.0.0.1:" + redis.port(), "does not speak", "port");
    }

    @Test
    void etcdIsNoRedis() {
        says(at("redis", etcd.port()), "127.0.0.1:" + etcd.port(), "closed the connection", "rediss://", "port");
    }

    @Test
    void redisWithoutTlsIsAskedForTls() {
        says(
                at("rediss", redis.port()) + "?timeout=1s",
                "127.0.0.1:" + redis.port(),
                "TLS handshake",
                "without TLS, use redis://");
    }

    @Test
    void redisWithTlsIsAskedWithout() {
        says(at("redis", secured.port()), "127.0.0.1:" + secured.port(), "closed the connection", "TLS, use rediss://");
    }

    @Test
    void redisHasACertificateOfAnUnknownAuthority() {
        says(at("rediss", secured.port()), "127.0.0.1:" + secured.port(), "certificate", "not trusted", "tls-ca=");
    }

    @Test
    void redisWantsAPassword() {
        says(
                at("redis", locked.port()),
                "127.0.0.1:" + locked.port() + " asks for a password",
                "NOAUTH",
                "before the host in the address");
    }

    @Test
    void redisRefusesThePassword() {
        says("redis://:wrong-" + CANARY + "@127.0.0.1:" + locked.port(), "127.0.0.1:", "refuses", "WRONGPASS", "check");
    }

    @Test
    void redisHangs() {
        String store = at("redis", redis.port()) + "?timeout=300ms";
        redis.pause();
        try {
            for (String command : new String[] {"ls", "show job"}) {
                Captured looked = Captured.of((command + " --store " + store).split(" "));

                assertThat(looked.exitCode()).isEqualTo(69);
                assertThat(looked.err())
                        .contains("did not answer in time")
                        .doesNotContain("Exception")
                        .hasLineCount(1);
            }
        } finally {
            redis.resume();
        }
    }

    @Test
    void etcdWithoutTlsIsAskedForTls() {
        says(at("etcds", etcd.port()), "127.0.0.1:" + etcd.port(), "TLS handshake", "without TLS, use etcd://");
    }

    @Test
    void etcdWithTlsIsAskedWithout() {
        // It closes or resets the connection, as its time allows.
        says(
                at("etcd", securedEtcd.port()),
                "127.0.0.1:" + securedEtcd.port(),
                "the connection",
                "expects TLS, ",
                "etcds://");
    }

    @Test
    void etcdHasACertificateOfAnUnknownAuthority() {
        says(at("etcds", securedEtcd.port()), "127.0.0.1:" + securedEtcd.port(), "certificate", "not trusted", "ca=");
    }

    @Test
    void etcdHasNoUsers() {
        says(
                "etcd://app:" + CANARY + "@127.0.0.1:" + etcd.port(),
                "127.0.0.1:" + etcd.port(),
                "cannot log in",
                "authentication is not enabled",
                "leave user and password out");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rediss://h?tls-ca=", "etcds://h?ca="})
    void aFileOfTheAddressIsMissing(String store) {
        Captured shown = Captured.of("show", "job", "--store", store + directory.resolve("missing.pem"));

        assertThat(shown.exitCode()).isEqualTo(64);
        assertThat(shown.err())
                .contains(directory.resolve("missing.pem") + " ", "read")
                .doesNotContain("Exception")
                .hasLineCount(1);
    }

    @Test
    void theLockDirectoryCannotBe() throws IOException {
        Path file = Files.createFile(directory.resolve("file"));

        Captured inside = Captured.of("run", "-n", "--store", "file:" + file.resolve("locks"), "job", "--", "true");
        Captured looked = Captured.of("ls", "--store", "file:" + file);
        Captured inProc = Captured.of("run", "-n", "--store", "file:/proc/locks", "job", "--", "true");

        assertThat(inside.exitCode()).isEqualTo(69);
        assertThat(inside.err()).contains(file + " is not a directory").doesNotContain("Exception");
        assertThat(looked.err()).contains(file + " is not a directory");
        assertThat(inProc.exitCode()).isEqualTo(69);
        assertThat(inProc.err()).contains("/proc/locks").doesNotContain("Exception");
    }

    @Test
    void timesAreWrittenAsPeopleWriteThem() {
        String store = "file:" + directory;

        assertThat(Captured.of("run", "--ttl", "1ms", "--store", store, "job", "--", "true")
                        .err())
                .contains("a ttl of 1 ms", "10 ms to 365 days")
                .doesNotContain("PT");
        assertThat(Captured.of("run", "--ttl", "99999d", "--store", store, "job", "--", "true")
                        .err())
                .contains("a ttl of 99999 days")
                .doesNotContain("PT");
    }

    @Test
    void theTokenOfALockIsNoNumber() {
        String key = "{holdfast:job}:token";
        String store = at("redis", redis.port());
        try (Jedis jedis = new Jedis("127.0.0.1", redis.port())) {
            jedis.flushAll();
            jedis.set(key, "not a number");

            Captured run = Captured.of("run", "-n", "--store", store, "job", "--", "true");

            assertThat(run.exitCode()).isEqualTo(69);
            assertThat(run.err())
                    .startsWith("holdfast: cannot take lock 'job': ")
                    .contains(key, "is not a token", "redis-cli", "DEL '" + key + "'")
                    .doesNotContain("user_script", "nil", "..")
                    .hasLineCount(1);
            assertThat(jedis.get(key)).isEqualTo("not a number");
            jedis.del(key);
        }
        assertThat(Captured.of("run", "-n", "--store", store, "job", "--", "true")
                        .exitCode())
                .isZero();
    }

    @Test
    void aKeyOfAnotherProgramIsReleasedByForceAndByNothingElse() {
        String store = at("redis", redis.port());
        try (Jedis jedis = new Jedis("127.0.0.1", redis.port())) {
            jedis.flushAll();
            jedis.set("holdfast:job", "theirs");

            Captured asked = Captured.of("release", "job", "--store", store);
            assertThat(asked.exitCode()).isEqualTo(64);
            assertThat(asked.err()).contains("another program, which left no name and may be at work", "--force");
            assertThat(jedis.get("holdfast:job")).isEqualTo("theirs");

            Captured forced = Captured.of("release", "job", "--force", "--store", store);
            assertThat(forced).isEqualTo(new Captured(0, "'job' taken from 1 holder.\n", ""));
            assertThat(jedis.exists("holdfast:job")).isFalse();
        }
    }
}
