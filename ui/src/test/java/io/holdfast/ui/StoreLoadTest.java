package io.holdfast.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

@DisplayName("what open pages cost a Redis")
class StoreLoadTest {

    /** All that listing locks sends: one script call per lock, and the walk through the keys. */
    private static final Pattern CALLS = Pattern.compile("cmdstat_(?:evalsha|eval|scan):calls=(\\d+)");

    private static long calls(RedisServer redis) {
        try (Jedis jedis = new Jedis("127.0.0.1", redis.port())) {
            Matcher matcher = CALLS.matcher(jedis.info("commandstats"));
            long sum = 0;
            while (matcher.find()) {
                sum += Long.parseLong(matcher.group(1));
            }
            return sum;
        }
    }

    private static Dashboard start(RedisServer redis) throws IOException {
        return Dashboard.start(DashboardOptions.local(
                List.of(new WatchedStore(
                        redis.uri(), () -> Holdfast.connect(redis.uri()), name -> name, WatchedStore.Waiters.LISTED)),
                0));
    }

    /** Its renewals, which are calls too, come later than any test ends. */
    private static Holdfast holder(RedisServer redis) {
        return Holdfast.builder()
                .store(redis.uri())
                .defaults(LockOptions.defaults().withTtl(Duration.ofMinutes(30)))
                .connect();
    }

    private static List<Lease> take(Holdfast holdfast, int locks) throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < locks; i++) {
            leases.add(holdfast.lock("stock/sku-" + i).acquire());
        }
        return leases;
    }

    /** How many calls a second looking at those locks costs, with so many pages open. */
    private static double callsPerSecond(int locks, int pages, Duration time) throws Exception {
        try (RedisServer redis = RedisServer.start();
                Holdfast holdfast = holder(redis);
                Dashboard dashboard = start(redis)) {
            List<Lease> leases = take(holdfast, locks);
            String cookie = new RawHttp(dashboard.port()).enter(dashboard.address());
            List<EventPage> open = new ArrayList<>();
            try {
                for (int i = 0; i < pages; i++) {
                    open.add(new EventPage(dashboard, cookie, "/api/events/overview?order=name&offset=" + i));
                }
                open.get(0).await(event -> event.at("/stores/0/extent").asText().equals("complete"));
                long before = calls(redis);
                long beganNanos = System.nanoTime();
                while (System.nanoTime() - beganNanos < time.toNanos()) {
                    open.get(0).next();
                }
                double seconds = (System.nanoTime() - beganNanos) / 1e9;
                return (calls(redis) - before) / seconds;
            } finally {
                for (EventPage page : open) {
                    page.close();
                }
                assertThat(leases).hasSize(locks);
            }
        }
    }

    @Test
    void manyPagesAskForNoMoreThanOne() throws Exception {
        double calls = callsPerSecond(30, 12, Duration.ofSeconds(3));

        // A look a second at 30 locks and two walks through the keys; fewer on a busy machine.
        assertThat(calls).isBetween(1.0, 50.0);
    }

    @Test
    void manyLocksAreLookedAtNoFasterThanTheStoreBears() throws Exception {
        double calls = callsPerSecond(3_000, 2, Duration.ofSeconds(4));

        assertThat(calls).isBetween(1.0, 2_200.0);
    }

    @Test
    @Tag("full")
    void tenThousandLocksAreShownAtOnceAndRefreshedEveryFewSeconds() throws Exception {
        try (RedisServer redis = RedisServer.start();
                Holdfast holdfast = holder(redis);
                Dashboard dashboard = start(redis)) {
            List<Lease> leases = take(holdfast, 10_000);
            String cookie = new RawHttp(dashboard.port()).enter(dashboard.address());
            long openedNanos = System.nanoTime();
            try (EventPage page = new EventPage(dashboard, cookie, "/api/events/overview")) {
                page.await(event -> event.at("/rows").size() == 50);
                long firstMillis = (System.nanoTime() - openedNanos) / 1_000_000;
                JsonNode complete = page.await(
                        event -> event.at("/stores/0/extent").asText().equals("complete"));
                long wholeMillis = (System.nanoTime() - openedNanos) / 1_000_000;
                long before = calls(redis);
                long beganNanos = System.nanoTime();
                JsonNode refreshed =
                        page.await(event -> !event.at("/stores/0/seen").equals(complete.at("/stores/0/seen")));
                double perSecond = (calls(redis) - before) * 1e9 / (System.nanoTime() - beganNanos);
                System.out.printf(
                        "10,000 locks: first rows after %d ms, all after %d ms, a refresh takes %d ms, %.0f calls/s%n",
                        firstMillis,
                        wholeMillis,
                        refreshed.at("/stores/0/lookMillis").asLong(),
                        perSecond);

                assertThat(refreshed.at("/total").asInt()).isEqualTo(10_000);
                assertThat(firstMillis).isLessThan(3_000);
                assertThat(refreshed.at("/stores/0/lookMillis").asLong()).isBetween(4_000L, 15_000L);
            }
            try (EventPage filtered = new EventPage(dashboard, cookie, "/api/events/overview?prefix=stock/sku-77")) {
                openedNanos = System.nanoTime();
                JsonNode some = filtered.await(
                        event -> event.at("/stores/0/extent").asText().equals("complete"));
                System.out.printf("a prefix of 111 of them: %d ms%n", (System.nanoTime() - openedNanos) / 1_000_000);
                assertThat(some.at("/total").asInt()).isEqualTo(111);
            }
            assertThat(leases).allMatch(Lease::isValid);
        }
    }

    /** What the browser needs on top of the events: until it has drawn anything, the first rows, and for each refresh of these. */
    @Test
    @Tag("full")
    void tenThousandLocksAreDrawnAtOnce(@TempDir Path directory) throws Exception {
        try (RedisServer redis = RedisServer.start();
                Holdfast holdfast = holder(redis);
                Dashboard dashboard = start(redis);
                Browser browser = Browser.start(directory)) {
            List<Lease> leases = take(holdfast, 10_000);
            browser.open(dashboard.address());
            browser.awaitText("table", "stock/sku-");
            // Once more with its session, as one who comes back.
            browser.open("http://127.0.0.1:" + dashboard.port() + "/?again");
            double rows = browser.asyncScript(
                            "const done = arguments[0]; (function look() { if (document.querySelectorAll('tbody tr').length >="
                                    + " 50) done(performance.now()); else requestAnimationFrame(look); })()")
                    .asDouble();
            double paint = browser.script("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
                    .asDouble();
            browser.devtools("Performance.enable", Map.of());
            double before = busySeconds(browser);
            int events = browser.asyncScript("const done = arguments[0]; let events = 0; const source = new"
                            + " EventSource('api/events/overview'); source.onmessage = () => { if (++events === 8) {"
                            + " source.close(); done(events); } }")
                    .asInt();
            double each = (busySeconds(browser) - before) * 1000 / events;
            System.out.printf(
                    "10,000 locks in the browser: first paint after %.0f ms, 50 rows after %.0f ms, %.0f ms of work per refresh%n",
                    paint, rows, each);

            assertThat(paint).isLessThan(3_000);
            assertThat(rows).isLessThan(6_000);
            assertThat(each).isLessThan(500);
            assertThat(leases).allMatch(Lease::isValid);
        }
    }

    /** All the page's thread has done so far: scripts, style, layout. */
    private static double busySeconds(Browser browser) {
        for (JsonNode metric :
                browser.devtools("Performance.getMetrics", Map.of()).get("metrics")) {
            if (metric.get("name").asText().equals("TaskDuration")) {
                return metric.get("value").asDouble();
            }
        }
        throw new AssertionError("the browser tells no TaskDuration");
    }
}
