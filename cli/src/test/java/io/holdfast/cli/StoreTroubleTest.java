package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.proxy.TcpProxy;
import io.holdfast.servers.RedisServer;
import io.holdfast.spi.StoreProvider;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("stores that are not there, and secrets")
class StoreTroubleTest {

    private static final String CANARY = "canary-7f3a";

    /** Bound, so that no server of another test gets its port, and not listened at. */
    private static final Socket UNUSED = new Socket();

    @TempDir
    Path directory;

    @BeforeAll
    static void bind() throws IOException {
        UNUSED.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @AfterAll
    static void unbind() throws IOException {
        UNUSED.close();
    }

    /** The example of every store on the class path that has servers, aimed at a port nobody listens on. */
    static Stream<String> unreachable() {
        int port = UNUSED.getLocalPort();
        return ServiceLoader.load(StoreProvider.class).stream()
                .map(provider -> provider.get().example())
                .filter(example -> example.contains("://"))
                .map(example -> example.replaceFirst("//[^/?]*", "//127.0.0.1:" + port));
    }

    @ParameterizedTest
    @MethodSource("unreachable")
    void aStoreThatIsNotThereIsSaidInOneLine(String store) {
        var looking = HoldfastProcess.start(directory, Map.of(), "ls", "--store", store);
        var running =
                HoldfastProcess.start(directory, Map.of(), "run", "--store", store, "-n", "job", "--", "touch", "ran");

        for (HoldfastProcess failed : List.of(looking, running)) {
            assertThat(failed.exitCode()).as(failed.err()).isEqualTo(69);
            assertThat(failed.out()).isEmpty();
            assertThat(failed.err()).startsWith("holdfast: ").hasLineCount(1);
        }
        assertThat(directory.resolve("ran")).doesNotExist();
    }

    @ParameterizedTest
    @MethodSource("unreachable")
    void whatFailedIsNamedAndNothingThatWasNotAsked(String store) {
        var listed = HoldfastProcess.start(directory, Map.of(), "ls", "--store", store);
        var shown = HoldfastProcess.start(directory, Map.of(), "show", "my job", "--store", store);
        var run = HoldfastProcess.start(
                directory, Map.of(), "run", "-n", "--store", store, "my job", "--", "touch", "ran");

        for (HoldfastProcess failed : List.of(listed, shown, run)) {
            assertThat(failed.exitCode()).isEqualTo(69);
            assertThat(failed.err())
                    .contains("127.0.0.1:")
                    .hasLineCount(1)
                    .doesNotContain("Nothing was acquired", "Exception", "..");
        }
        assertThat(listed.err()).startsWith("holdfast: cannot list the locks: ");
        assertThat(shown.err()).startsWith("holdfast: cannot look at lock \"my job\": ");
        assertThat(run.err())
                .startsWith("holdfast: cannot take lock \"my job\": ")
                .endsWith(" The command did not run.\n");
    }

    @ParameterizedTest
    @MethodSource("unreachable")
    void credentialsOfAnUnreachableStoreAreNotShown(String store) {
        String secret = store.contains("jdbc:")
                ? store.replaceFirst("\\?.*", "") + "?user=app&password=" + CANARY
                : store.replaceFirst("//", "//app:" + CANARY + "@");

        var option = HoldfastProcess.start(directory, Map.of(), "ls", "--store", secret);
        var variable = HoldfastProcess.start(
                directory, Map.of("HOLDFAST_STORE", secret), "run", "-n", "job", "--json", "--", "env");

        assertThat(option.exitCode()).isIn(64, 69);
        assertThat(variable.exitCode()).isIn(64, 69);
        assertThat(option.err() + option.out() + variable.err() + variable.out())
                .doesNotContain(CANARY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ls --sotre redis://app:canary-7f3a@localhost",
                "ls one redis://app:canary-7f3a@localhost",
                "show x --store=redis://app:canary-7f3a@localhost:nonsense",
                "redis://app:canary-7f3a@localhost ls",
                "ls --store nowhere://app:canary-7f3a@localhost",
                "ls --store app:canary-7f3a@localhost",
                "ls --store app:x/canary-7f3a@localhost",
                "ls --store redis://app:x/canary-7f3a@localhost",
                "ls --store redis://app:canary-7f3a/x@localhost",
                "ls --store redis://app:x?canary-7f3a@localhost",
                "ls --store redis://app:1?canary-7f3a@localhost",
                "ls --store etcd://app:1/canary-7f3a@localhost",
                "ls --store nowhere://app:x#canary-7f3a@localhost",
                "ls --sotre redis://app:x/canary-7f3a@localhost",
                "ls --sotre redis://app:x?canary-7f3a@localhost",
                "ls --sotre redis://app:x#canary-7f3a@localhost",
                "ls --store memory:x?password=canary-7f3a",
                "run --store nowhere://app:canary-7f3a@h/p?x=canary-7f3a --json job -- true"
            })
    void whatWasTypedInTheWrongPlaceIsNotRepeatedWithItsPassword(String line) {
        Captured wrong = Captured.of(line.split(" "));

        assertThat(wrong.exitCode()).isEqualTo(64);
        assertThat(wrong.out() + wrong.err()).isNotEmpty().doesNotContain(CANARY);
    }

    @Test
    void aCommandNeverGetsTheAddressOfTheStore() {
        String store = "file:" + directory.resolve(CANARY);

        var variable = HoldfastProcess.start(directory, Map.of("HOLDFAST_STORE", store), "run", "job", "--", "env");
        var option = HoldfastProcess.start(directory, Map.of(), "run", "--store", store, "job", "--", "env");

        assertThat(variable.exitCode()).as(variable.err()).isZero();
        assertThat(option.exitCode()).as(option.err()).isZero();
        assertThat(variable.out()).contains("HOLDFAST_NAME=job").doesNotContain(CANARY);
        assertThat(option.out()).contains("HOLDFAST_NAME=job").doesNotContain(CANARY);
    }

    @Test
    void aWaitCoversAStoreThatIsNotThereYet() throws IOException {
        Path inTheWay = Files.createFile(directory.resolve("mount"));
        String store = "file:" + inTheWay.resolve("locks");
        try (var waiting = HoldfastProcess.start(
                directory, Map.of(), "run", "--store", store, "-w", "10m", "job", "--", "touch", "ran")) {
            await().atMost(HoldfastProcess.PATIENCE).until(() -> waiting.err().contains("Trying again"));

            Files.delete(inTheWay);

            assertThat(waiting.exitCode()).as(waiting.err()).isZero();
            assertThat(directory.resolve("ran")).exists();
        }
    }

    @Test
    void connectingTakesNothingFromTheWaitForALockThatIsTaken() {
        try (RedisServer server = RedisServer.start();
                TcpProxy proxy = TcpProxy.to(server.address());
                var holder = HoldfastProcess.start(
                        directory,
                        Map.of(),
                        "run",
                        "--store",
                        server.uri(),
                        "job",
                        "--",
                        "sh",
                        "-c",
                        "touch held; while [ ! -e stop ]; do sleep 0.1; done")) {
            await().atMost(HoldfastProcess.PATIENCE).until(() -> Files.exists(directory.resolve("held")));
            proxy.cut();
            var waiting = HoldfastProcess.start(
                    directory,
                    Map.of(),
                    "run",
                    "--store",
                    "redis://127.0.0.1:" + proxy.port(),
                    "-w",
                    "3",
                    "job",
                    "--",
                    "touch",
                    "ran");
            await().atMost(HoldfastProcess.PATIENCE).until(() -> proxy.openConnections() > 0);
            await().pollDelay(Duration.ofMillis(3_500)).until(() -> true);

            proxy.heal();

            assertThat(waiting.exitCode()).as(waiting.err()).isEqualTo(1);
            assertThat(waiting.err()).contains("lock 'job' is taken by");
            assertThat(holder.isAlive()).isTrue();
        }
    }
}
