package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.micrometer.HoldfastMetrics;
import io.holdfast.servers.RedisServer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Asks a Prometheus that knows what a real run exported. Its programs are Debian's package prometheus. */
@DisplayName("the dashboard and the alerts")
class GrafanaTest {

    private static final Path FILES = Path.of("..", "docs", "grafana").toAbsolutePath();
    private static final Path ALERTS = FILES.resolve("holdfast-alerts.yml");
    private static final Pattern SAMPLE = Pattern.compile("([a-z_]+(?:\\{.*})?) (\\S+)");
    private static final Instant NOW = Instant.ofEpochSecond(Instant.now().getEpochSecond());

    @TempDir
    private Path directory;

    @Test
    void findSomethingInWhatARealRunExports() throws Exception {
        assertThat(run("promtool", "check", "rules", ALERTS.toString())).contains("SUCCESS: 4 rules found");
        Files.writeString(directory.resolve("samples"), export());
        run("promtool", "tsdb", "create-blocks-from", "openmetrics", "samples", "data");
        int port = freePort();
        Files.writeString(directory.resolve("prometheus.yml"), "");
        Process prometheus = start(
                "prometheus",
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=data",
                "--web.listen-address=127.0.0.1:" + port);
        try {
            await().atMost(Duration.ofSeconds(30)).until(() -> accepts(port));
            for (String query : panels()) {
                assertThat(ask(port, query)).as(query).isNotBlank();
            }
            assertThat(alerts()).hasSize(4).allSatisfy(alert -> {
                String watched = alert.replaceFirst(" [<>] [0-9.]+$", "");
                assertThat(ask(port, watched)).as(watched).isNotBlank();
            });
            assertThat(alerts().stream().filter(alert -> !ask(port, alert).isBlank()))
                    .as("alerts that fire")
                    .hasSize(3)
                    .noneMatch(alert -> alert.contains("hold_seconds_max"));
        } finally {
            prometheus.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }

    /** Waits, a loss, renewals that fail; seen once before and once at the end. */
    private static String export() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (RedisServer server = RedisServer.start();
                Holdfast other = Holdfast.connect(server.uri());
                Holdfast holdfast = Holdfast.builder()
                        .store(server.uri())
                        .defaults(LockOptions.defaults().withTtl(Duration.ofSeconds(3)))
                        .observer(HoldfastMetrics.builder(registry)
                                .withHistograms()
                                .build())
                        .connect()) {
            holdfast.lock("orders/1").tryAcquire().orElseThrow();
            holdfast.lock("stock/1").tryRun(() -> {});
            waitFor("stock/1", Duration.ofMillis(500), holdfast, other);
            await().untilAsserted(() -> assertThat(registry.scrape()).contains("outcome=\"renewed\""));
            String before = at(NOW.minusSeconds(240), registry.scrape());
            other.administration().forceRelease("orders/1");
            holdfast.lock("jobs/1").tryAcquire().orElseThrow();
            waitFor("stock/1", Duration.ofMillis(1300), holdfast, other);
            holdfast.lock("stock/1").tryRun(() -> {});
            await().untilAsserted(() -> assertThat(registry.scrape()).contains("holdfast_lock_lost_total"));
            server.stop();
            await().pollInterval(Duration.ofMillis(20))
                    .until(() -> holdfast.statistics().leastShareLeft() < 0.45);
            return before + at(NOW, registry.scrape()) + "# EOF\n";
        }
    }

    private static void waitFor(String lock, Duration wait, Holdfast waiting, Holdfast other)
            throws InterruptedException {
        try (Lease taken = other.lock(lock).tryAcquire().orElseThrow()) {
            assertThat(waiting.lock(lock).tryAcquire(wait)).isEmpty();
            assertThat(taken.isValid()).isTrue();
        }
    }

    private static String at(Instant time, String scraped) {
        return scraped.lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> SAMPLE.matcher(line).replaceFirst("$1 $2 " + time.getEpochSecond()) + "\n")
                .collect(Collectors.joining());
    }

    private static List<String> panels() throws IOException {
        String dashboard = Files.readString(FILES.resolve("holdfast-dashboard.json"));
        List<String> queries = Pattern.compile("\"expr\": \"((?:[^\"\\\\]|\\\\.)*)\"")
                .matcher(dashboard)
                .results()
                .map(found -> found.group(1)
                        .replace("\\\"", "\"")
                        .replace("$store", ".*")
                        .replace("$__rate_interval", "5m"))
                .toList();
        assertThat(queries).hasSize(11);
        return queries;
    }

    private static List<String> alerts() throws IOException {
        return Files.readAllLines(ALERTS).stream()
                .map(String::strip)
                .filter(line -> line.startsWith("expr: "))
                .map(line -> line.substring("expr: ".length()))
                .toList();
    }

    private String ask(int port, String query) {
        try {
            return run(
                    "promtool",
                    "query",
                    "instant",
                    "--time=" + NOW.getEpochSecond(),
                    "http://127.0.0.1:" + port,
                    query);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Process start(String... command) {
        try {
            return new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(directory.resolve(command[0] + ".log").toFile())
                    .start();
        } catch (IOException e) {
            throw new IllegalStateException(
                    command[0] + " is missing: apt-get install --no-install-recommends prometheus", e);
        }
    }

    private String run(String... command) throws IOException, InterruptedException {
        int status = start(command).waitFor();
        String output = Files.readString(directory.resolve(command[0] + ".log"));
        assertThat(status).as(String.join(" ", command) + "\n" + output).isZero();
        return output;
    }

    private static boolean accepts(int port) {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }
}
