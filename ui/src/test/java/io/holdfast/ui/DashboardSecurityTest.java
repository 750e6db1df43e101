package io.holdfast.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.ui.DashboardOptions.Release;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("who may see the dashboard, and who may release")
class DashboardSecurityTest {

    private static final String EVIL = "Origin: http://evil.example";

    private final String uri = "memory:" + UUID.randomUUID();
    private final List<String> notices = new CopyOnWriteArrayList<>();
    private final List<String> addresses = new CopyOnWriteArrayList<>();
    private final Holdfast holder = Holdfast.connect(uri);
    private Dashboard dashboard;
    private RawHttp http;

    private WatchedStore store() {
        return new WatchedStore(
                uri, () -> Holdfast.connect(uri), name -> "holdfast show " + name, WatchedStore.Waiters.LISTED);
    }

    private DashboardOptions options(
            InetSocketAddress address, Optional<SSLContext> tls, Optional<URI> proxied, Release release) {
        return new DashboardOptions(
                List.of(store()),
                List.of(),
                address,
                tls,
                proxied,
                release,
                addresses::add,
                notices::add,
                text -> text.replace("s3cret", "***"));
    }

    private void start(Release release, Optional<URI> proxied) throws IOException {
        dashboard = Dashboard.start(options(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), Optional.empty(), proxied, release));
        http = new RawHttp(dashboard.port());
    }

    @BeforeEach
    void readOnly() throws IOException {
        start(Release.FORBIDDEN, Optional.empty());
    }

    private void allowRelease() throws IOException {
        dashboard.close();
        start(Release.ALLOWED, Optional.empty());
    }

    @AfterEach
    void close() {
        dashboard.close();
        holder.close();
    }

    private String own() {
        return "Origin: http://127.0.0.1:" + dashboard.port();
    }

    private static String release(String name, String typed) {
        return "{\"store\":1,\"name\":\"" + name + "\",\"typed\":\"" + typed + "\"}";
    }

    private RawHttp.Answer postRelease(String body, String... headers) {
        String[] all = Arrays.copyOf(headers, headers.length + 1);
        all[headers.length] = "Content-Type: application/json";
        return http.post("/api/release", body, all);
    }

    /** The client of the dashboard connects when a page is first opened. */
    private void lookOnce(String cookie) {
        await().until(() -> http.get("/api/lock?store=1&name=job", cookie).status() == 200);
    }

    @Test
    void itListensOnThisMachineOnly() {
        assertThat(dashboard.address()).startsWith("http://127.0.0.1:");
        InetSocketAddress everywhere = new InetSocketAddress("0.0.0.0", 0);
        InetSocketAddress outside = new InetSocketAddress("192.0.2.7", 0);
        Optional<URI> proxy = Optional.of(URI.create("https://locks.example.com"));

        assertThatThrownBy(() -> options(outside, Optional.empty(), Optional.empty(), Release.FORBIDDEN))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--tls");
        assertThatThrownBy(() ->
                        options(everywhere, Optional.of(SSLContext.getDefault()), Optional.empty(), Release.FORBIDDEN))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(options(outside, Optional.empty(), proxy, Release.FORBIDDEN).address())
                .isEqualTo(outside);
        assertThat(options(everywhere, Optional.empty(), proxy, Release.FORBIDDEN)
                        .address())
                .isEqualTo(everywhere);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/api/stores",
                "/api/locks?store=1",
                "/api/lock?store=1&name=a",
                "/api/events/overview",
                "/api/events/lock?store=1&name=a",
                "/api/events/blocked",
                "/api/deadlocks?store=1"
            })
    void nothingIsToldWithoutTheCookie(String path) {
        assertThat(http.get(path).status()).isEqualTo(401);
        assertThat(http.get(path, "Cookie: holdfast-" + dashboard.port() + "=guessed")
                        .status())
                .isEqualTo(401);
    }

    @Test
    void thePageItselfNeedsTheCookieToo() {
        RawHttp.Answer refused = http.get("/");

        assertThat(refused.status()).isEqualTo(401);
        assertThat(refused.body()).contains("has not been let in").doesNotContain("app.js");
    }

    @Test
    void thePrintedAddressWorksOnceAndBecomesAStrictCookie() {
        String address = dashboard.address();
        String path = "/" + address.substring(address.indexOf("?token="));

        RawHttp.Answer opened = http.get(path);
        RawHttp.Answer again = http.get(path);

        String cookie = opened.header("Set-Cookie").orElseThrow();
        assertThat(cookie).contains("HttpOnly", "SameSite=Strict", "Path=/");
        assertThat(again.status()).isEqualTo(401);
        assertThat(again.header("Set-Cookie")).isEmpty();
        assertThat(http.get("/", "Cookie: " + cookie.substring(0, cookie.indexOf(';')))
                        .status())
                .isEqualTo(200);
        assertThat(addresses).containsExactly(dashboard.address());
        assertThat(dashboard.address()).isNotEqualTo(address);
    }

    @ParameterizedTest
    @ValueSource(strings = {"evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", ""})
    void aHostThatIsNotOursIsRefused(String host) {
        String cookie = http.enter(dashboard.address());

        assertThat(http.send("GET /api/stores HTTP/1.1\r\nHost: " + host + "\r\n", "", cookie)
                        .status())
                .isIn(400, 421);
        assertThat(http.get("/api/stores", cookie).status()).isEqualTo(200);
    }

    @Test
    void ourOtherNamesAreWelcome() {
        String cookie = http.enter(dashboard.address());

        for (String host : List.of("localhost:", "[::1]:")) {
            assertThat(http.send("GET /api/stores HTTP/1.1\r\nHost: " + host + dashboard.port() + "\r\n", "", cookie)
                            .status())
                    .isEqualTo(200);
        }
    }

    @Test
    void aPageFromAnotherOriginCanNeitherReadNorRelease() throws IOException, InterruptedException {
        allowRelease();
        String cookie = http.enter(dashboard.address());
        lookOnce(cookie);
        try (Lease lease = holder.lock("job").acquire()) {
            String body = release("job", "job");

            assertThat(http.get("/api/stores", cookie, EVIL).status()).isEqualTo(403);
            assertThat(http.get("/api/stores", cookie, "Sec-Fetch-Site: cross-site")
                            .status())
                    .isEqualTo(403);
            assertThat(http.get("/api/stores", cookie, "Sec-Fetch-Site: same-site")
                            .status())
                    .isEqualTo(403);
            assertThat(postRelease(body, cookie, EVIL).status()).isEqualTo(403);
            assertThat(postRelease(body, cookie, "Origin: null").status()).isEqualTo(403);
            assertThat(postRelease(body, cookie).status()).isEqualTo(403);
            assertThat(postRelease(body, cookie, own(), "Sec-Fetch-Site: same-site")
                            .status())
                    .isEqualTo(403);
            assertThat(postRelease(body, own()).status()).isEqualTo(401);
            assertThat(http.post("/api/release", body, cookie, own(), "Content-Type: text/plain")
                            .status())
                    .isEqualTo(415);
            assertThat(lease.isValid()).isTrue();
            assertThat(notices).isEmpty();
        }
    }

    @Test
    void itOnlyLooksUnlessItWasAllowedToRelease() throws InterruptedException {
        String cookie = http.enter(dashboard.address());
        lookOnce(cookie);
        try (Lease lease = holder.lock("job").acquire()) {
            RawHttp.Answer refused = postRelease(release("job", "job"), cookie, own());

            assertThat(refused.status()).isEqualTo(403);
            assertThat(refused.body()).contains("read-only", "--allow-release");
            assertThat(lease.isValid()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "jo", "Job", "job "})
    void theNameMustBeTypedToRelease(String typed) throws IOException, InterruptedException {
        allowRelease();
        String cookie = http.enter(dashboard.address());
        lookOnce(cookie);
        try (Lease lease = holder.lock("job").acquire()) {
            RawHttp.Answer refused = postRelease(release("job", typed), cookie, own());

            assertThat(refused.status()).isEqualTo(409);
            assertThat(lease.isValid()).isTrue();
            assertThat(notices).isEmpty();
        }
    }

    @Test
    void aReleaseIsWrittenDownBeforeAndAfter() throws IOException, InterruptedException {
        allowRelease();
        String cookie = http.enter(dashboard.address());
        lookOnce(cookie);
        try (Lease lease = holder.lock("job").acquire()) {
            RawHttp.Answer released = postRelease(release("job", "job"), cookie, own(), "Sec-Fetch-Site: same-origin");

            assertThat(released.status()).as(released.body()).isEqualTo(200);
            assertThat(released.body()).isEqualTo("{\"name\":\"job\",\"released\":1}\n");
            await().until(() -> !lease.isValid());
            assertThat(notices).hasSize(2);
            assertThat(notices.get(0))
                    .startsWith("audit: ")
                    .contains("'job'", uri, "127.0.0.1", "session ", "token " + lease.token(), "pid ");
            assertThat(notices.get(1)).contains("1 holder lost it");
            assertThat(notices.toString()).doesNotContain(cookie.substring(cookie.indexOf('=') + 1));
        }
    }

    @Test
    void aNameCanForgeNoLineOfTheAuditNorSteerTheTerminal() throws IOException, InterruptedException {
        allowRelease();
        String cookie = http.enter(dashboard.address());
        lookOnce(cookie);
        String name = "job\naudit: 2026-01-01T00:00:00Z forged\u001b[2J\u202e";
        try (Lease lease = holder.lock(name).acquire()) {
            String sent = "job\\naudit: 2026-01-01T00:00:00Z forged\\u001b[2J\\u202e";
            assertThat(postRelease(release(sent, sent), cookie, own()).status()).isEqualTo(200);

            await().atMost(Duration.ofSeconds(30)).until(() -> !lease.isValid());
            assertThat(notices)
                    .hasSize(2)
                    .allSatisfy(line -> assertThat(line)
                            .doesNotContainPattern("[\\p{Cc}\\p{Cf}]")
                            .contains("'job\\u000aaudit: 2026-01-01T00:00:00Z forged\\u001b[2J\\u202e'"));
        }
    }

    @Test
    void everyAnswerIsStrictAboutContent() {
        String cookie = http.enter(dashboard.address());
        for (RawHttp.Answer answer : List.of(
                http.get("/", cookie),
                http.get("/"),
                http.get("/app.js"),
                http.get("/chart.js"),
                http.get("/api/stores", cookie),
                http.get("/nothing", cookie))) {
            assertThat(answer.header("Content-Security-Policy").orElseThrow())
                    .contains("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'")
                    .doesNotContain("unsafe", "*");
            assertThat(answer.header("X-Content-Type-Options")).contains("nosniff");
            assertThat(answer.header("Referrer-Policy")).contains("no-referrer");
            assertThat(answer.header("Cache-Control")).contains("no-store");
            assertThat(answer.header("Access-Control-Allow-Origin")).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/",
                "/index.html",
                "/../pom.xml",
                "/%2e%2e/pom.xml",
                "/page/app.js",
                "/io/holdfast/ui/page/app.js"
            })
    void onlyKnownFilesAreServed(String path) {
        assertThat(http.get(path).status()).isIn(400, 401, 404);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/style.css",
                "/icon.svg",
                "/app.js",
                "/overview.js",
                "/lock.js",
                "/blocked.js",
                "/plots.js",
                "/text.js",
                "/elements.js",
                "/parts.js",
                "/live.js",
                "/chart.js"
            })
    void thePageComesFromThisServerAlone(String path) {
        RawHttp.Answer answer = http.get(path);

        assertThat(answer.status()).isEqualTo(200);
        // Names of XML vocabularies and licences are no addresses to load from.
        assertThat(answer.body()
                        .replaceAll("http://www\\.w3\\.org/\\S*|https://(www\\.chartjs\\.org|github\\.com)\\S*", ""))
                .doesNotContainPattern("(src|href|import|url)\\W{1,4}https?://");
    }

    @Test
    void noCredentialsOfTheStoreAreShown() throws IOException {
        dashboard.close();
        WatchedStore down = new WatchedStore(
                "redis://***@127.0.0.1:1",
                () -> {
                    throw new IllegalStateException("cannot reach redis://app:s3cret@127.0.0.1:1");
                },
                name -> "holdfast show " + name,
                WatchedStore.Waiters.LISTED);
        dashboard = Dashboard.start(new DashboardOptions(
                List.of(down),
                List.of(),
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                Optional.empty(),
                Optional.empty(),
                Release.ALLOWED,
                addresses::add,
                notices::add,
                text -> text.replace("s3cret", "***")));
        http = new RawHttp(dashboard.port());
        String cookie = http.enter(dashboard.address());

        RawHttp.Answer locks = http.get("/api/locks?store=1", cookie);
        RawHttp.Answer stores = http.get("/api/stores", cookie);
        RawHttp.Answer release = postRelease(release("job", "job"), cookie, own());

        assertThat(locks.status()).isEqualTo(503);
        assertThat(locks.body()).contains("app:***@");
        assertThat(stores.body()).contains("\"state\":\"down\"", "app:***@");
        assertThat(release.status()).isEqualTo(503);
        assertThat(locks.body() + stores.body() + release.body() + notices).doesNotContain("s3cret");
    }

    @Test
    void behindAProxyItsNameCountsAndTheCookieIsSecure() throws IOException {
        dashboard.close();
        start(Release.FORBIDDEN, Optional.of(URI.create("https://locks.example.com")));
        String path = dashboard.address().substring("https://locks.example.com".length());
        String host = "Host: locks.example.com\r\n";

        RawHttp.Answer opened = http.send("GET " + path + " HTTP/1.1\r\n" + host, "");
        String cookie = opened.header("Set-Cookie").orElseThrow();

        assertThat(cookie).contains("; Secure");
        String sent = "Cookie: " + cookie.substring(0, cookie.indexOf(';'));
        assertThat(http.send("GET /api/stores HTTP/1.1\r\n" + host, "", sent, "Origin: https://locks.example.com")
                        .status())
                .isEqualTo(200);
        assertThat(http.send("GET /api/stores HTTP/1.1\r\n" + host, "", sent, "Origin: http://locks.example.com")
                        .status())
                .isEqualTo(403);
    }

    @Test
    void aRequestThatIsTooLongOrNoJsonIsRefused() throws IOException {
        allowRelease();
        String cookie = http.enter(dashboard.address());

        assertThat(postRelease("{\"name\":\"" + "x".repeat(10_000) + "\"}", cookie, own())
                        .status())
                .isEqualTo(413);
        assertThat(postRelease("{oops", cookie, own()).status()).isEqualTo(400);
        assertThat(postRelease("{\"store\":7,\"name\":\"a\",\"typed\":\"a\"}", cookie, own())
                        .status())
                .isEqualTo(400);
        assertThat(http.post("/api/stores", "", cookie, own()).status()).isEqualTo(405);
        assertThat(http.get("/api/locks?store=%zz", cookie).status()).isIn(400, 404);
    }
}
