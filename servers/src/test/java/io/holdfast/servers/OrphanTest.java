package io.holdfast.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.servers.process.ProcessTree;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("servers never outlive the JVM that started them")
class OrphanTest {

    @Test
    void killedJvmTakesItsServersAndTheirDirectoriesAlong() throws Exception {
        Launched launched = launch("stay");
        launched.jvm.destroyForcibly();
        assertAllGone(launched);
    }

    @Test
    void jvmThatEndsNormallyLeavesNothing() throws Exception {
        Launched launched = launch("exit");
        assertThat(launched.jvm.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(launched.jvm.exitValue()).isZero();
        assertAllGone(launched);
    }

    @Test
    void serverOutlivesTheThreadThatStartedIt() throws Exception {
        List<RedisServer> started = new ArrayList<>();
        Thread starter = new Thread(() -> started.add(RedisServer.start()));
        starter.start();
        starter.join();

        try (RedisServer server = started.get(0)) {
            // The signal would come at the end of the thread; a second server's whole life is time enough for it.
            RedisServer.start().close();
            assertThat(server.isRunning()).isTrue();
            assertThat(server.answers()).isTrue();
        }
    }

    private record Launched(Process jvm, List<Long> pids, Path workspace) {}

    private static Launched launch(String mode) throws IOException {
        Process jvm = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ServersOfEveryKind.class.getName(),
                        mode)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader output = jvm.inputReader();
        String pids = output.readLine();
        assertThat(pids).as("the JVM's output").isNotNull();
        return new Launched(
                jvm, Arrays.stream(pids.split(" ")).map(Long::valueOf).toList(), Path.of(output.readLine()));
    }

    private static void assertAllGone(Launched launched) {
        // Five servers, and the children of PostgreSQL.
        assertThat(launched.pids).hasSizeGreaterThan(6);
        try {
            await().atMost(Duration.ofSeconds(20))
                    .untilAsserted(() -> assertThat(launched.pids).allMatch(ProcessTree::isGone));
        } finally {
            ProcessTree.signal(
                    "KILL",
                    launched.pids.stream()
                            .filter(pid -> !ProcessTree.isGone(pid))
                            .toList());
        }
        await().atMost(Duration.ofSeconds(20)).until(() -> !Files.exists(launched.workspace));
    }
}
