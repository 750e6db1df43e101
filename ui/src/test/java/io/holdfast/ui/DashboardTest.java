package io.holdfast.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockView;
import io.holdfast.servers.RedisServer;
import io.holdfast.ui.json.JsonText;
import io.holdfast.ui.json.LockJson;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("what the dashboard tells")
class DashboardTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final String uri = "memory:" + UUID.randomUUID();
    private final AtomicInteger connected = new AtomicInteger();

    private Dashboard start(String... uris) throws IOException {
        return Dashboard.start(DashboardOptions.local(
                Arrays.stream(uris)
                        .map(store -> new WatchedStore(
                                store,
                                () -> {
                                    connected.incrementAndGet();
                                    return Holdfast.builder()
                                            .store(store)
                                            .requestTimeout(Duration.ofSeconds(2))
                                            .connect();
                                },
                                name -> "holdfast show " + name,
                                WatchedStore.Waiters.LISTED))
                        .toList(),
                0));
    }

    @Test
    void itsJsonIsThatOfTheCommand() throws Exception {
        try (Holdfast holdfast = Holdfast.connect(uri);
                Lease held = holdfast.lock("stock/1").acquire();
                Lease permit = holdfast.semaphore("exports", 3).acquire();
                Dashboard dashboard = start(uri)) {
            RawHttp http = new RawHttp(dashboard.port());
            String cookie = http.enter(dashboard.address());

            JsonNode locks =
                    JSON.readTree(http.get("/api/locks?store=1", cookie).body());
            JsonNode some = JSON.readTree(
                    http.get("/api/locks?store=1&prefix=stock/", cookie).body());
            JsonNode one = JSON.readTree(
                    http.get("/api/lock?store=1&name=stock%2F1", cookie).body());
            JsonNode free = JSON.readTree(
                    http.get("/api/lock?store=1&name=free", cookie).body());

            assertThat(locks).hasSize(2);
            assertThat(some).hasSize(1);
            assertThat(withoutTime(one))
                    .isEqualTo(withoutTime(
                            asTheCommandPrints(holdfast.lock("stock/1").inspect())));
            assertThat(withoutTime(some.get(0))).isEqualTo(withoutTime(one));
            assertThat(one.at("/holders/0/token").asText()).isEqualTo(Long.toString(held.token()));
            assertThat(locks.get(0).at("/holders/0/token").asText()).isEqualTo(Long.toString(permit.token()));
            assertThat(free).isEqualTo(asTheCommandPrints(LockView.free("free")));
        }
    }

    private static JsonNode asTheCommandPrints(LockView view) throws IOException {
        return JSON.readTree(JsonText.object(json -> LockJson.fields(json, view)));
    }

    private static String withoutTime(JsonNode lock) {
        // Since when too: in memory that is counted back from now.
        return lock.toString().replaceAll("(\"timeLeftMillis\":)\\d+|(\"since\":)\"[^\"]*\"", "$1$2");
    }

    @Test
    void anOpenPageHearsOfALockThatIsTakenWaitedForAndFreed() throws Exception {
        try (Dashboard dashboard = start(uri);
                Holdfast one = Holdfast.connect(uri);
                Holdfast two = Holdfast.connect(uri)) {
            String cookie = new RawHttp(dashboard.port()).enter(dashboard.address());
            try (EventPage overview = new EventPage(dashboard, cookie, "/api/events/overview");
                    EventPage lock = new EventPage(dashboard, cookie, "/api/events/lock?store=1&name=job");
                    EventPage blocked = new EventPage(dashboard, cookie, "/api/events/blocked")) {
                overview.await(event -> event.at("/stores/0/extent").asText().equals("complete"));
                lock.await(event -> event.at("/lock/held").isBoolean()
                        && !event.at("/lock/held").asBoolean());

                Lease held = one.lock("job").acquire();
                overview.await(event -> event.at("/rows/0/lock/name").asText().equals("job"));
                lock.await(event -> event.at("/holding").asInt() == 1);

                CompletableFuture<Lease> waiting = two.lock("job").acquireAsync();
                lock.await(event -> event.at("/waiting").asInt() == 1);
                overview.await(event -> event.at("/stores/0/waiting").asInt() == 1);
                blocked.await(event -> event.at("/rows/0/lock/waiters").size() == 1);

                held.close();
                waiting.join().close();
                lock.await(event -> event.at("/holding").asInt() == 0);
                overview.await(event -> event.at("/endedHoldMillis").size() > 0);
                assertThat(connected).as("connections, however many pages").hasValue(1);
            }
        }
    }

    @Test
    void locksComeInTheOrderAskedForAndInPages() throws Exception {
        try (Holdfast holdfast = Holdfast.connect(uri);
                Holdfast other = Holdfast.connect(uri);
                Dashboard dashboard = start(uri)) {
            List<Lease> leases = new ArrayList<>();
            for (String name : List.of("c", "a", "d", "b")) {
                leases.add(holdfast.lock(name).acquire());
                // In memory ages are counted back from now: they must differ by more than that is exact.
                await().pollDelay(Duration.ofMillis(20)).until(() -> true);
            }
            CompletableFuture<Lease> waiting = other.lock("d").acquireAsync();
            await().until(() -> !holdfast.lock("d").inspect().waiters().isEmpty());
            RawHttp http = new RawHttp(dashboard.port());
            String cookie = http.enter(dashboard.address());

            assertThat(names(http, cookie, "order=heat")).startsWith("d", "c");
            assertThat(names(http, cookie, "order=longest")).containsExactly("c", "a", "d", "b");
            assertThat(names(http, cookie, "order=name")).containsExactly("a", "b", "c", "d");
            assertThat(names(http, cookie, "order=name&offset=1&limit=2")).containsExactly("b", "c");
            assertThat(http.get("/api/locks?store=1&order=colour", cookie).status())
                    .isEqualTo(400);
            assertThat(http.get("/api/locks?store=2", cookie).status()).isEqualTo(400);
            assertThat(http.get("/api/lock?store=1", cookie).status()).isEqualTo(400);
            waiting.cancel(true);
            leases.forEach(Lease::close);
        }
    }

    private static List<String> names(RawHttp http, String cookie, String query) throws IOException {
        return JSON.readTree(http.get("/api/locks?store=1&" + query, cookie).body())
                .findValuesAsText("name");
    }

    @Test
    void aStoreThatGoesDownIsSaidToBeDownAndComesBack() throws Exception {
        try (RedisServer redis = RedisServer.start();
                Holdfast holdfast = Holdfast.connect(redis.uri());
                Lease held = holdfast.lock("job").acquire();
                Dashboard dashboard = start(redis.uri(), uri)) {
            String cookie = new RawHttp(dashboard.port()).enter(dashboard.address());
            try (EventPage page = new EventPage(dashboard, cookie, "/api/events/overview")) {
                page.await(event -> event.at("/total").asInt() == 1);

                redis.kill();
                JsonNode down =
                        page.await(event -> event.at("/stores/0/state").asText().equals("down"));
                assertThat(down.at("/stores/0/message").asText()).isNotEmpty();
                assertThat(down.at("/total").asInt())
                        .as("what was seen last stays")
                        .isEqualTo(1);
                assertThat(down.at("/stores/1/state").asText()).isEqualTo("up");

                redis.restart();
                page.await(event -> event.at("/stores/0/state").asText().equals("up"));
                assertThat(held.name()).isEqualTo("job");
            }
        }
    }

    @Test
    void aStoreThatHangsIsSaidToBeDownAndKeepsNobodyFromTheOthers() throws Exception {
        try (RedisServer redis = RedisServer.start();
                Holdfast other = Holdfast.connect(uri);
                Lease held = other.lock("of the other").acquire();
                Dashboard dashboard = start(redis.uri(), uri)) {
            String cookie = new RawHttp(dashboard.port()).enter(dashboard.address());
            try (EventPage page = new EventPage(dashboard, cookie, "/api/events/overview")) {
                page.await(event -> event.at("/stores/0/state").asText().equals("up"));

                redis.pause();
                page.await(event -> event.at("/stores/0/state").asText().equals("down"));
                JsonNode locks = JSON.readTree(new RawHttp(dashboard.port())
                        .get("/api/locks?store=2", cookie)
                        .body());
                assertThat(locks.at("/0/name").asText()).isEqualTo("of the other");

                redis.resume();
                page.await(event -> event.at("/stores/0/state").asText().equals("up"));
                assertThat(held.isValid()).isTrue();
            }
        }
    }

    @Test
    void asManyPagesAsItBearsAreServedAndNoMoreAreRefusedInWords() throws Exception {
        List<EventPage> pages = new ArrayList<>();
        try (Dashboard dashboard = start(uri)) {
            RawHttp http = new RawHttp(dashboard.port());
            String cookie = http.enter(dashboard.address());
            for (int i = 0; i < EventStreams.MOST; i++) {
                pages.add(new EventPage(dashboard, cookie, "/api/events/overview"));
                pages.get(i).next();
            }

            RawHttp.Answer refused = http.get("/api/events/overview", cookie);

            assertThat(refused.status()).isEqualTo(503);
            assertThat(refused.body()).contains("too-many", "close some");
            assertThat(http.get("/api/stores", cookie).status()).isEqualTo(200);
        } finally {
            for (EventPage page : pages) {
                page.close();
            }
        }
    }

    @Test
    void aPortThatIsTakenIsAnError() throws IOException {
        try (Dashboard first = start(uri)) {
            assertThatThrownBy(() -> Dashboard.start(DashboardOptions.local(List.of(), first.port())))
                    .isInstanceOf(BindException.class);
        }
    }

    @Test
    void nothingIsAskedOfAStoreWhileNoPageIsOpen() throws Exception {
        try (Dashboard dashboard = start(uri)) {
            String cookie = new RawHttp(dashboard.port()).enter(dashboard.address());
            assertThat(connected).hasValue(0);

            try (EventPage page = new EventPage(dashboard, cookie, "/api/events/overview")) {
                page.await(event -> event.at("/stores/0/state").asText().equals("up"));
                assertThat(connected).hasValue(1);
            }
        }
    }
}
