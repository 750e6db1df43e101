package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Election;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.servers.RedisServer;
import io.holdfast.spring.CurrentLease;
import io.holdfast.spring.Locked;
import io.holdfast.spring.ScheduledLock;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@DisplayName("a web application on Redis")
class RunningApplicationTest {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final List<String> NOTES = new CopyOnWriteArrayList<>();
    private static final AtomicInteger RUNS = new AtomicInteger();
    private static volatile CountDownLatch begun;
    private static volatile CountDownLatch goOn;
    private static RedisServer server;

    private final HttpClient client = HttpClient.newHttpClient();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableScheduling
    @Import({Shop.class, Jobs.class})
    static class Application {

        /** As a connection pool that releasing locks may need. */
        @Bean
        Pool pool() {
            return new Pool();
        }
    }

    static class Pool implements AutoCloseable {
        @Override
        public void close() {
            try (Holdfast other = Holdfast.connect(server.uri())) {
                NOTES.add("pool destroyed, held: " + other.locks("shut/").size());
            }
        }
    }

    @RestController
    static class Shop {
        @PostMapping("/sell")
        @Locked("shut/stock")
        public String sell() throws InterruptedException {
            begun.countDown();
            goOn.await(60, TimeUnit.SECONDS);
            return "sold, lock valid: " + CurrentLease.require().isValid();
        }
    }

    static class Jobs {
        @Scheduled(fixedRateString = "${job.every:20}", initialDelayString = "${job.every:20}")
        @ScheduledLock(name = "shut/job", minHold = "0")
        public void job() {
            RUNS.incrementAndGet();
        }
    }

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void reset() {
        begun = new CountDownLatch(1);
        goOn = new CountDownLatch(1);
        NOTES.clear();
    }

    private static ConfigurableApplicationContext start(String... settings) {
        return new SpringApplicationBuilder(Application.class)
                .properties(
                        "server.port=0",
                        "spring.main.banner-mode=off",
                        "holdfast.store=" + server.uri(),
                        "management.endpoints.web.exposure.include=*")
                .properties(settings)
                .run();
    }

    private CompletableFuture<HttpResponse<String>> send(
            ConfigurableApplicationContext context, String method, String path) {
        URI address = URI.create(
                "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port") + path);
        return client.sendAsync(
                HttpRequest.newBuilder(address)
                        .method(method, BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
    }

    @Test
    void endsInTheMiddleOfWorkAndLeavesNothingHeld() throws Exception {
        try (Holdfast other = Holdfast.connect(server.uri());
                Election successor = other.election("shut/leader")) {
            ConfigurableApplicationContext context = start();
            Holdfast own = context.getBean(Holdfast.class);
            own.lock("shut/left-open").tryAcquire().orElseThrow();
            Election leader = own.election("shut/leader");
            leader.campaign();
            CompletableFuture<Long> campaign = successor.campaignAsync();
            var sale = send(context, "POST", "/sell");
            assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
            await().atMost(SOON).untilAsserted(() -> assertThat(RUNS).hasPositiveValue());
            ScheduledState scheduled = new ScheduledState(context);

            Thread closing = new Thread(context::close, "closing");
            closing.start();
            await().atMost(SOON).until(scheduled::isStopped);
            int runs = RUNS.get();

            assertThat(leader.isLeader()).as("while the web server drains").isTrue();
            assertThat(other.lock("shut/stock").tryAcquire()).isEmpty();
            goOn.countDown();

            assertThat(sale.get(60, TimeUnit.SECONDS).body()).isEqualTo("sold, lock valid: true");
            closing.join(60_000);
            assertThat(closing.isAlive()).isFalse();
            assertThat(campaign).as("long before the ttl").succeedsWithin(Duration.ofSeconds(20));
            assertThat(leader.isLeader()).isFalse();
            assertThat(RUNS.get()).isLessThanOrEqualTo(runs + 1);
            // The successor leads by now, or is about to.
            assertThat(NOTES).containsAnyOf("pool destroyed, held: 1", "pool destroyed, held: 0");
            successor.resign();
            assertThat(other.locks("shut/")).isEmpty();
        }
    }

    /** Jobs do not begin any more. */
    private record ScheduledState(ConfigurableApplicationContext context) {
        boolean isStopped() {
            return !((org.springframework.context.SmartLifecycle)
                            context.getBeanFactory().getSingleton("holdfastScheduledRuns"))
                    .isRunning();
        }
    }

    @Test
    void showsItsLocksOverHttpAndReleasesThemOnlyIfAllowedTo() throws Exception {
        try (ConfigurableApplicationContext context = start();
                Lease lease = context.getBean(Holdfast.class)
                        .lock("http/stock/42")
                        .tryAcquire()
                        .orElseThrow()) {
            String local = get(context, "/actuator/holdfast");
            assertThat(local)
                    .contains("\"http/stock/42\"")
                    .contains("\"token\":" + lease.token())
                    .contains("\"held\"")
                    .contains("\"waiting\"")
                    // As the dashboard reads it.
                    .containsPattern(
                            "\"counts\":\\{\"acquired\":\\d+,\"unsuccessful\":\\d+,\"lost\":0,\"waitP99Millis\":\\d");
            assertThat(get(context, "/actuator/holdfast/holdfast?prefix=http/"))
                    .contains("\"total\":1")
                    .contains("\"http/stock/42\"");
            assertThat(get(context, "/actuator/holdfast/holdfast/http/stock/42"))
                    .contains("\"http/stock/42\"")
                    .contains("\"holders\"");
            assertThat(send(context, "GET", "/actuator/holdfast/unknown").get().statusCode())
                    .isEqualTo(404);
            assertThat(send(context, "DELETE", "/actuator/holdfast/holdfast/http/stock/42")
                            .get()
                            .statusCode())
                    .isEqualTo(405);
            assertThat(lease.isValid()).isTrue();
            assertThat(get(context, "/actuator/health")).contains("\"UP\"");
        }
        try (ConfigurableApplicationContext context =
                        start("management.endpoint.holdfast.access=unrestricted", "holdfast.defaults.ttl=3s");
                Lease lease = context.getBean(Holdfast.class)
                        .lock("http/stock/42")
                        .tryAcquire()
                        .orElseThrow()) {
            assertThat(send(context, "DELETE", "/actuator/holdfast/holdfast/http/stock/42")
                            .get()
                            .body())
                    .isEqualTo("{\"released\":1}");
            await().atMost(SOON).untilAsserted(() -> assertThat(lease.isValid()).isFalse());
        }
    }

    @Test
    void aPathWithEmptyPartsReleasesAndShowsNoOtherLock() throws Exception {
        try (ConfigurableApplicationContext context = start("management.endpoint.holdfast.access=unrestricted");
                Lease lease = context.getBean(Holdfast.class)
                        .lock("empty/42")
                        .tryAcquire()
                        .orElseThrow()) {
            for (String name : List.of("empty//42", "empty/42/", "/empty/42", "empty/;/42")) {
                String path = "/actuator/holdfast/holdfast/" + name;
                for (String method : List.of("DELETE", "GET")) {
                    HttpResponse<String> answer = send(context, method, path).get(60, TimeUnit.SECONDS);

                    assertThat(answer.statusCode())
                            .as(method + " " + path + ": " + answer.body())
                            .isEqualTo(400);
                }
            }
            assertThat(context.getBean(Holdfast.class)
                            .lock("empty/42")
                            .inspect()
                            .isHeld())
                    .isTrue();
        }
    }

    private String get(ConfigurableApplicationContext context, String path) throws Exception {
        HttpResponse<String> answer = send(context, "GET", path).get(60, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).as(path).isEqualTo(200);
        return answer.body();
    }

    @Test
    void hidesCredentialsAndKeepsLivenessApartFromItsStore() throws Exception {
        try (ConfigurableApplicationContext context = start(
                "holdfast.store=redis://someone:secret@127.0.0.1:1/0",
                "management.endpoint.health.show-details=always",
                "management.endpoint.health.probes.enabled=true",
                "holdfast.request-timeout=500ms",
                "job.every=1h")) {
            HttpResponse<String> health =
                    send(context, "GET", "/actuator/health").get(60, TimeUnit.SECONDS);
            assertThat(health.statusCode()).isEqualTo(503);
            assertThat(health.body()).contains("\"holdfast\"").doesNotContain("secret");
            assertThat(get(context, "/actuator/health/liveness")).contains("UP");
            assertThat(get(context, "/actuator/health/readiness")).contains("UP");
            assertThat(get(context, "/actuator/holdfast")).doesNotContain("secret");
        }
    }
}
