package io.holdfast.ui;

import com.sun.net.httpserver.HttpServer;
import io.holdfast.Holdfast;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.servers.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.awaitility.Awaitility;

/** Takes the pictures of {@code docs/ui}: every page, wide and narrow, light and dark, on a store where something is going on. */
final class Screenshots implements AutoCloseable {

    private final List<Holdfast> clients = new ArrayList<>();
    private final Path output;

    private Screenshots(Path output) {
        this.output = output;
    }

    public static void main(String[] arguments) throws Exception {
        Path temporary = Files.createTempDirectory("holdfast-screenshots-");
        String files = "file:" + temporary.resolve("locks");
        HttpServer application = application();
        try (RedisServer redis = RedisServer.start();
                Screenshots screenshots = new Screenshots(Path.of(arguments[0]));
                Dashboard dashboard = Dashboard.start(DashboardOptions.local(
                                List.of(store(redis.uri()), store(files)), 0)
                        .withRelease(DashboardOptions.Release.ALLOWED)
                        .withActuators(List.of(actuator(application, "shop-1"), actuator(application, "shop-2"))));
                Browser browser = Browser.start(temporary)) {
            screenshots.crowd(redis.uri(), files);
            browser.open(dashboard.address());
            screenshots.take(browser, dashboard);
            redis.kill();
            screenshots.takeWithoutTheStore(browser, dashboard);
        } finally {
            application.stop(0);
        }
    }

    /** Answers as the endpoint of the starter does. */
    private static HttpServer application() throws IOException {
        AtomicLong acquired = new AtomicLong(48_210);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            boolean first = exchange.getRequestURI().getPath().contains("shop-1");
            byte[] answer = """
                    {"holdfast": {"store": "redis://redis.internal", "held": [], "waiting": [], "counts": {"acquired": %d,
                     "unsuccessful": %d, "lost": %d, "waitP99Millis": %s, "holdP99Millis": %s}}}
                    """.formatted(
                            acquired.addAndGet(137),
                            first ? 12 : 31,
                            first ? 0 : 1,
                            first ? 8.21 : 2140,
                            first ? 35 : 61)
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        return server;
    }

    private static URI actuator(HttpServer application, String instance) {
        return URI.create("http://127.0.0.1:" + application.getAddress().getPort() + "/" + instance + "/actuator");
    }

    private static WatchedStore store(String uri) {
        return new WatchedStore(
                uri.startsWith("redis") ? "redis://redis.internal" : "file:/var/lib/holdfast",
                () -> Holdfast.connect(uri),
                name -> "holdfast show " + name,
                WatchedStore.Waiters.LISTED);
    }

    private Holdfast client(String uri, String name) {
        Holdfast client = Holdfast.builder().store(uri).name(name).connect();
        clients.add(client);
        return client;
    }

    /** Programs that hold locks, wait for them, and come and go. */
    private void crowd(String redis, String files) throws InterruptedException {
        LockOptions shortly = LockOptions.defaults().withTtl(Duration.ofSeconds(12));
        Holdfast shop = client(redis, "shop-1");
        hold("reports", client(redis, "reporting"), "nightly-report", LockOptions.defaults());
        hold("deploy", client(redis, "ci-runner-7"), "deploy/production", LockOptions.defaults());
        for (int i = 0; i < 14; i++) {
            hold("order-worker-" + i, shop, "stock/sku-" + (100 + i * 7), shortly);
        }
        for (int i = 2; i <= 8; i++) {
            takeTurns("order-worker-" + i, client(redis, "shop-" + i), "stock/sku-42", shortly, 3_000 + i * 400);
        }
        for (int i = 0; i < 4; i++) {
            takeTurns("mailer-" + i, client(redis, "mailer-" + i), "outbox/" + i, shortly, 700 * (i + 1));
        }
        wait("deploy", client(redis, "ci-runner-9"), "deploy/production", LockOptions.defaults());
        Holdfast readers = client(redis, "catalogue-api");
        for (int i = 0; i < 3; i++) {
            run(
                    "reader-" + i,
                    () -> readers.readWriteLock("catalogue").readLock().acquire());
            run("export-" + i, () -> readers.semaphore("exports", 5).acquire());
        }
        hold("cron", client(files, "backup"), "backup/home", LockOptions.defaults());
        deadlock(redis);
    }

    private void deadlock(String redis) throws InterruptedException {
        CountDownLatch both = new CountDownLatch(2);
        cross(client(redis, "billing"), "account/17", "account/23", both);
        cross(client(redis, "refunds"), "account/23", "account/17", both);
        both.await(10, TimeUnit.SECONDS);
    }

    private void cross(Holdfast client, String first, String second, CountDownLatch both) throws InterruptedException {
        run("transfer", () -> {
            client.lock(first).acquire();
            both.countDown();
            both.await();
            client.lock(second).acquire();
        });
    }

    private void takeTurns(String thread, Holdfast client, String lock, LockOptions options, int millis) {
        run(thread, () -> {
            while (true) {
                try (Lease lease = client.lock(lock, options).acquire()) {
                    new CountDownLatch(1).await(lease.isValid() ? millis : 0, TimeUnit.MILLISECONDS);
                }
            }
        });
    }

    private interface Work {
        void run() throws InterruptedException;
    }

    private void hold(String thread, Holdfast client, String lock, LockOptions options) throws InterruptedException {
        run(thread, () -> client.lock(lock, options).acquire());
    }

    private void wait(String thread, Holdfast client, String lock, LockOptions options) throws InterruptedException {
        int before = client.lock(lock).inspect().waiters().size();
        run(thread, () -> client.lock(lock, options).acquire());
        Awaitility.await().until(() -> client.lock(lock).inspect().waiters().size() > before);
    }

    private void run(String thread, Work work) {
        Thread worker = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (InterruptedException | RuntimeException e) {
                        // The pictures have been taken.
                    }
                },
                thread);
        worker.setDaemon(true);
        worker.start();
    }

    private void take(Browser browser, Dashboard dashboard) throws IOException, InterruptedException {
        String base = "http://127.0.0.1:" + dashboard.port() + "/";
        browser.awaitText("main", "stock/sku-42");
        page(browser, base + "#/", "overview");
        page(browser, base + "#/?prefix=stock/sku-4", "instances");
        page(browser, base + "#/blocked", "blocked");
        page(browser, base + "#/lock/1/stock%2Fsku-42", "lock");
    }

    private void takeWithoutTheStore(Browser browser, Dashboard dashboard) throws IOException, InterruptedException {
        browser.open("http://127.0.0.1:" + dashboard.port() + "/#/");
        browser.awaitText("main", "backup/home", "Shown is what was seen");
        pictures(browser, "down");
    }

    private void page(Browser browser, String address, String name) throws IOException, InterruptedException {
        browser.open(address);
        browser.awaitText("main", "stock/sku-42");
        pictures(browser, name);
    }

    private void pictures(Browser browser, String name) throws IOException, InterruptedException {
        // Plots and time lines show what was seen since the page was opened.
        new CountDownLatch(1).await(20, TimeUnit.SECONDS);
        for (String scheme : List.of("light", "dark")) {
            for (int width : List.of(1600, 390)) {
                browser.look(width, width == 390 ? 1500 : 1000, scheme);
                new CountDownLatch(1).await(1500, TimeUnit.MILLISECONDS);
                Files.write(
                        output.resolve(name + "-" + width + "-" + scheme + ".png"), SmallPng.of(browser.screenshot()));
            }
        }
        browser.look(1600, 1000, "light");
        browser.complaints().forEach(System.out::println);
    }

    @Override
    public void close() {
        clients.forEach(Holdfast::close);
    }
}
