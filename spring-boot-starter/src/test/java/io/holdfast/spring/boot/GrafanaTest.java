package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.micrometer.HoldfastMetrics;
import io.holdfast.testing.TestLocks;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
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
    private static final Pattern LISTENS = Pattern.compile("msg=\"Listening on\" address=([0-9.:]+)");
    private static final Instant NOW = Instant.ofEpochSecond(Instant.now().getEpochSecond());

    @TempDir
    private Path directory;

    @Test
    void findSomethingInWhatARealRunExports() throws Exception {
        assertThat(run("promtool", "check", "rules", ALERTS.toString())).contains("SUCCESS: 4 rules found");
        Files.writeString(directory.resolve("samples"), export());
        run("promtool", "tsdb", "create-blocks-from", "openmetrics", "samples", "data");
        Files.writeString(directory.resolve("prometheus.yml"), "");
        Process prometheus = start(
                "prometheus",
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=data",
                "--web.listen-address=127.0.0.1:0");
        try {
            String address = await().atMost(Duration.ofSeconds(60))
                    .ignoreExceptions()
                    .until(() -> addressOf("prometheus"), found -> !found.isEmpty());
            for (String query : panels()) {
                assertThat(ask(address, query)).as(query).isNotBlank();
            }
            assertThat(alerts()).hasSize(4).allSatisfy(alert -> {
                String watched = alert.replaceFirst(" [<>] [0-9.]+$", "");
                assertThat(ask(address, watched)).as(watched).isNotBlank();
            });
            assertThat(alerts().stream().filter(alert -> !ask(address, alert).isBlank()))
                    .as("alerts that fire")
                    .hasSize(3)
                    .noneMatch(alert -> alert.contains("hold_seconds_max"));
        } finally {
            prometheus.destroyForcibly().waitFor(10, TimeUnit.SECONDS);
        }
    }

    /** Waits, a loss, renewals that fail; seen once before and once at the end. On a clock of its own, so that no time is missed. */
    private static String export() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (TestLocks locks = TestLocks.create(builder -> builder.defaults(
                        LockOptions.defaults().withTtl(Duration.ofSeconds(3)))
                .observer(HoldfastMetrics.builder(registry).withHistograms().build()))) {
            Holdfast holdfast = locks.holdfast();
            holdfast.lock("orders/1").tryAcquire().orElseThrow();
            holdfast.lock("stock/1").tryRun(() -> {});
            waitFor("stock/2", Duration.ofMillis(500), locks);
            locks.advance(Duration.ofSeconds(2));
            awaitExported(registry, "outcome=\"renewed\"");
            String before = at(NOW.minusSeconds(240), registry.scrape());
            locks.lose("orders/1");
            Lease lease = holdfast.lock("jobs/1").tryAcquire().orElseThrow();
            waitFor("stock/3", Duration.ofMillis(1300), locks);
            holdfast.lock("stock/1").tryRun(() -> {});
            awaitExported(registry, "holdfast_lock_lost_total");
            locks.storeDown();
            while (holdfast.statistics().leastShareLeft() >= 0.45) {
                locks.advance(Duration.ofMillis(100));
            }
            assertThat(lease.isValid()).isTrue();
            String end = at(NOW, registry.scrape());
            locks.storeUp();
            lease.close();
            return before + end + "# EOF\n";
        }
    }

    private static void awaitExported(PrometheusMeterRegistry registry, String what) {
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(() -> assertThat(registry.scrape()).contains(what));
    }

    private static void waitFor(String lock, Duration wait, TestLocks locks) {
        TestLocks.OtherHolder other = locks.takenByOther(lock);
        CompletableFuture<Optional<Lease>> waiting = locks.holdfast().lock(lock).tryAcquireAsync(wait);
        locks.awaitWaiting(1);
        locks.advance(wait.plusMillis(1));
        assertThat(waiting).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(Optional.empty());
        other.release();
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

    private String ask(String address, String query) {
        try {
            return run("promtool", "query", "instant", "--time=" + NOW.getEpochSecond(), address, query);
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

    /** Of a server that listens at a port of its own choice, once it answers questions; else empty. */
    private String addressOf(String server) throws IOException, InterruptedException {
        Matcher listens = LISTENS.matcher(Files.readString(directory.resolve(server + ".log")));
        if (!listens.find()) {
            return "";
        }
        String address = "http://" + listens.group(1);
        HttpResponse<Void> ready = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(address + "/-/ready")).build(), BodyHandlers.discarding());
        return ready.statusCode() == 200 ? address : "";
    }
}
