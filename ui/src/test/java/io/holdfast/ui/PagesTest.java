package io.holdfast.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.servers.EtcdServer;
import io.holdfast.servers.PostgresServer;
import io.holdfast.servers.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@DisplayName("The pages in a browser")
class PagesTest extends PagesContract {

    private static final String PAUSE_KEY = "p";

    @Test
    void showALockOfAnotherProcessAndAWaiterThatIsServedOnRedis() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            seesALockAndAWaiterThatIsServed(redis.uri());
        }
    }

    @Test
    @Tag("full")
    void showALockOfAnotherProcessAndAWaiterThatIsServedOnEtcd() throws IOException {
        try (EtcdServer etcd = EtcdServer.start()) {
            seesALockAndAWaiterThatIsServed("etcd://127.0.0.1:" + etcd.port());
        }
    }

    @Test
    @Tag("full")
    void showALockOfAnotherProcessAndAWaiterThatIsServedOnPostgres() throws IOException {
        try (PostgresServer postgres = PostgresServer.start()) {
            seesALockAndAWaiterThatIsServed(postgres.jdbcUrl() + "&createSchema=true");
        }
    }

    @Test
    @Tag("full")
    void findADeadlockOnRedis() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            findsADeadlock(redis.uri());
        }
    }

    @Test
    @Tag("full")
    void findADeadlockOnEtcd() throws IOException {
        try (EtcdServer etcd = EtcdServer.start()) {
            findsADeadlock("etcd://127.0.0.1:" + etcd.port());
        }
    }

    @Test
    @Tag("full")
    void findADeadlockOnPostgres() throws IOException {
        try (PostgresServer postgres = PostgresServer.start()) {
            findsADeadlock(postgres.jdbcUrl() + "&createSchema=true");
        }
    }

    @Test
    @Tag("full")
    void releaseByForceOnRedis() throws IOException {
        try (RedisServer redis = RedisServer.start()) {
            releasesByForceOnceTheNameIsTyped(redis.uri());
        }
    }

    @Test
    @Tag("full")
    void releaseByForceOnEtcd() throws IOException {
        try (EtcdServer etcd = EtcdServer.start()) {
            releasesByForceOnceTheNameIsTyped("etcd://127.0.0.1:" + etcd.port());
        }
    }

    @Test
    @Tag("full")
    void releaseByForceOnPostgres() throws IOException {
        try (PostgresServer postgres = PostgresServer.start()) {
            releasesByForceOnceTheNameIsTyped(postgres.jdbcUrl() + "&createSchema=true");
        }
    }

    /** Served from another port, which the browser's cookie does not tell apart but its origin does. */
    @Test
    @Tag("full")
    void ofAnotherOriginCannotRelease() throws IOException, InterruptedException {
        String store = "memory:" + UUID.randomUUID();
        AtomicInteger tries = new AtomicInteger();
        HttpServer evil = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        evil.createContext("/", exchange -> {
            byte[] page = "<!doctype html><title>evil</title>".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
            exchange.close();
            tries.incrementAndGet();
        });
        evil.start();
        try (Dashboard dashboard = start(store, DashboardOptions.Release.ALLOWED);
                Holdfast holdfast = Holdfast.connect(store);
                Lease lease = holdfast.lock("nightly").acquire();
                Browser browser = Browser.start(directory)) {
            browser.open(dashboard.address());
            browser.awaitText("table", "nightly");
            browser.open("http://127.0.0.1:" + evil.getAddress().getPort() + "/");
            String target = "http://127.0.0.1:" + dashboard.port() + "/api/release";
            String body = "{\"store\":1,\"name\":\"nightly\",\"typed\":\"nightly\"}";
            // With and without asking first whether it may; the second can be sent but not read.
            for (String type : new String[] {"application/json", "text/plain"}) {
                String outcome = browser.asyncScript(
                                "const [target, body, type, done] = arguments; fetch(target, {method: 'POST', mode: type"
                                        + " === 'text/plain' ? 'no-cors' : 'cors', credentials: 'include', headers:"
                                        + " {'Content-Type': type}, body}).then(a => done('' + a.status), e =>"
                                        + " done('refused'))",
                                target,
                                body,
                                type)
                        .asText();
                assertThat(outcome).isIn("refused", "0");
            }

            assertThat(tries).as("the other page was opened").hasPositiveValue();
            assertThat(lease.isValid()).isTrue();
            assertThat(audit).isEmpty();
        } finally {
            evil.stop(0);
        }
    }

    @Test
    @Tag("full")
    void arePausedFilteredAndWalkedThroughByKeyboard() throws IOException, InterruptedException {
        String store = "memory:" + UUID.randomUUID();
        try (Dashboard dashboard = start(store, DashboardOptions.Release.FORBIDDEN);
                Holdfast holdfast = Holdfast.connect(store);
                Lease one = holdfast.lock("stock/1").acquire();
                Lease two = holdfast.lock("deploy").acquire();
                Browser browser = Browser.start(directory)) {
            browser.open(dashboard.address());
            browser.awaitText("table", "stock/1", "deploy");
            browser.awaitText("#live", "Live");

            browser.press("/");
            browser.press("s", "t", "o");
            await().atMost(Browser.SOON)
                    .untilAsserted(() -> assertThat(browser.text("table"))
                            .contains("stock/1")
                            .doesNotContain("deploy"));
            assertThat(browser.script("return document.activeElement.id").asText())
                    .isEqualTo("filter");

            browser.press("\uE004", "\uE004");
            assertThat(browser.script("return document.activeElement.textContent")
                            .asText())
                    .isEqualTo("stock/1");
            browser.press(PAUSE_KEY);
            browser.awaitText("#live", "Paused");
            try (Lease three = holdfast.lock("stock/2").acquire()) {
                browser.press(PAUSE_KEY);
                browser.awaitText("table", "stock/2");
                assertThat(three.isValid()).isTrue();
            }
            browser.press("\uE007");
            browser.awaitText("main h1", "stock/1", "Held");
            assertThat(one.isValid() && two.isValid()).isTrue();
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    @Tag("full")
    void releaseALockWhoseNameCannotBeTyped() throws IOException, InterruptedException {
        String store = "memory:" + UUID.randomUUID();
        String name = "a\nb\u202e<script>\"'";
        try (Dashboard dashboard = start(store, DashboardOptions.Release.ALLOWED);
                Holdfast holdfast = Holdfast.connect(store);
                Lease lease = holdfast.lock(name).acquire();
                Browser browser = Browser.start(directory)) {
            browser.open(dashboard.address());
            browser.awaitText("table", "\"a\\u000ab\\u202e<script>\\\"'\"");
            browser.click("td.lock a");
            browser.awaitText("section.release:not([hidden])", "Type the name");

            browser.type("#typed", "\"a\\u000ab\\u202e<script>\\\"'\"");
            browser.click("button.danger");

            browser.awaitText("main h1", "Free");
            await().atMost(Browser.SOON).until(() -> !lease.isValid());
            assertThat(audit.get(0).lines()).as("one line each").hasSize(1);
            browser.open("http://127.0.0.1:" + dashboard.port() + "/#/lock/1/%E0%A4%A");
            browser.awaitText("main h1", "%E0%A4%A");
            assertThat(browser.complaints()).isEmpty();
        }
    }

    @Test
    @Tag("full")
    void sayWhatKeepsAStoreFromAnsweringAndRecover() throws IOException {
        try (RedisServer redis = RedisServer.start();
                Dashboard dashboard = start(redis.uri(), DashboardOptions.Release.FORBIDDEN);
                Browser browser = Browser.start(directory)) {
            browser.open(dashboard.address());
            browser.awaitText("main", "No lock is held or waited for");

            redis.kill();
            browser.awaitText(".store[data-state=down]", "the store");
            redis.restart();

            browser.awaitText(".store[data-state=up]", "the store");
        }
    }

    @Test
    @Tag("full")
    void needNoOtherMachineAndTakeNoNameForMarkup() throws IOException, InterruptedException {
        String store = "memory:" + UUID.randomUUID();
        try (Dashboard dashboard = start(store, DashboardOptions.Release.FORBIDDEN);
                Holdfast holdfast = Holdfast.connect(store);
                Lease lease = holdfast.lock("job").acquire();
                Lease evil = holdfast.lock("<img src=x onerror=document.body.remove()>")
                        .acquire();
                Browser browser = Browser.start(directory)) {
            browser.open(dashboard.address());
            browser.awaitText("table", "job", "<img src=x onerror=document.body.remove()>");
            await().atMost(Browser.SOON)
                    .until(() -> browser.script(
                                            "return performance.getEntriesByName(new URL('chart.js', location).href).length")
                                    .asInt()
                            > 0);

            assertThat(browser.script("return performance.getEntriesByType('resource').map(e => new URL(e.name).host)"))
                    .allSatisfy(host -> assertThat(host.asText()).isEqualTo("127.0.0.1:" + dashboard.port()));
            assertThat(browser.complaints()).isEmpty();
            assertThat(lease.isValid() && evil.isValid()).isTrue();
        }
    }
}
