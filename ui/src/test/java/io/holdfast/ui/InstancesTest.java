package io.holdfast.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import io.holdfast.Holdfast;
import io.holdfast.ui.instance.Instance;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("what instances count themselves")
class InstancesTest {

    private final String store = "memory:" + UUID.randomUUID();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final AtomicLong acquired = new AtomicLong(100);
    private volatile int status = 200;
    private volatile String answer = "";
    private HttpServer application;

    @BeforeEach
    void startApplication() throws IOException {
        application = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        application.createContext("/actuator/holdfast", exchange -> {
            asked.add(String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
            // As the endpoint of the starter answers.
            String body = answer.isEmpty() ? """
                    {"holdfast": {"name": "shop-1", "store": "redis", "held": [{"lock": "a", "token": 7}], "waiting": [],
                     "counts": {"acquired": %d, "unsuccessful": 3, "lost": 1, "waitP99Millis": 12.5, "holdP99Millis": null}}}
                    """.formatted(acquired.getAndAdd(10)) : answer;
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        application.start();
    }

    @AfterEach
    void stopApplication() {
        application.stop(0);
    }

    private Dashboard start(String user) throws IOException {
        return Dashboard.start(DashboardOptions.local(
                        List.of(new WatchedStore(
                                "the store",
                                () -> Holdfast.connect(store),
                                name -> "holdfast show " + name,
                                WatchedStore.Waiters.LISTED)),
                        0)
                .withActuators(List.of(URI.create("http://" + user + "127.0.0.1:"
                        + application.getAddress().getPort() + "/actuator/"))));
    }

    @Test
    void isShownWithTheRateBetweenTwoAnswers() throws Exception {
        try (Dashboard dashboard = start("someone:s3cret@")) {
            String cookie = new RawHttp(dashboard.port()).enter(dashboard.address());
            assertThat(asked).as("while no page is open").isEmpty();
            try (EventPage page = new EventPage(dashboard, cookie, "/api/events/overview")) {
                JsonNode event = page.await(
                        it -> it.at("/instances/0/clients/0/acquiredPerSecond").isNumber());

                JsonNode client = event.at("/instances/0/clients/0");
                assertThat(client.at("/client").asText())
                        .as("as stores show it")
                        .isEqualTo("shop-1");
                assertThat(client.at("/bean").asText()).isEqualTo("holdfast");
                assertThat(client.at("/held").asInt()).isEqualTo(1);
                assertThat(client.at("/acquiredPerSecond").asDouble()).isPositive();
                assertThat(client.at("/waitP99Millis").asDouble()).isEqualTo(12.5);
                assertThat(client.has("holdP99Millis")).isFalse();
                assertThat(event.toString()).doesNotContain("s3cret", "someone");
                assertThat(asked).allMatch("Basic c29tZW9uZTpzM2NyZXQ="::equals);
            }
        }
    }

    @Test
    void isMissingWithTheReasonAndComesBack() throws Exception {
        status = 404;
        try (Dashboard dashboard = start("")) {
            String cookie = new RawHttp(dashboard.port()).enter(dashboard.address());
            try (EventPage page = new EventPage(dashboard, cookie, "/api/events/overview")) {
                page.await(it -> it.at("/instances/0/message").asText().contains("status 404"));
                status = 200;
                answer = "[1, 2]";
                page.await(it -> it.at("/instances/0/message").asText().contains("not as the endpoint 'holdfast'"));
                answer = "";
                page.await(it -> !it.at("/instances/0").has("message")
                        && it.at("/instances/0/clients").size() == 1);
            }
        }
    }

    @Test
    void needsTheAddressOfAWebServer() {
        assertThatThrownBy(() -> new Instance(URI.create("redis://someone:s3cret@localhost")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("http://shop.internal:8080/actuator")
                .hasMessageNotContaining("s3cret");
    }
}
