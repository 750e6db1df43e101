package io.holdfast.ui;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.holdfast.ui.http.Assets;
import io.holdfast.ui.http.Query;
import io.holdfast.ui.http.Refusal;
import io.holdfast.ui.http.Replies;
import io.holdfast.ui.http.RequestCheck;
import io.holdfast.ui.http.Sessions;
import io.holdfast.ui.instance.Instances;
import io.holdfast.ui.watch.StoreWatch;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server that shows the locks of stores in a browser: who holds them, who waits, who blocks whom.
 *
 * <p>Thread-safe. It looks at a store only while a page is open, and changes nothing there unless it was allowed to release
 * locks. {@link #close} ends its threads and connections.
 */
public final class Dashboard implements AutoCloseable {

    /** Requests beside the open pages, which have a thread each. */
    private static final int SHORT_REQUESTS = 32;

    private final DashboardOptions options;
    private final Sessions sessions = new Sessions();
    private final Assets assets = new Assets();
    private final List<ShownStore> stores = new ArrayList<>();
    private final Instances instances;
    private final HttpServer server;
    private final ThreadPoolExecutor threads;
    private final RequestCheck check;
    private final LocksApi api;
    private final ForcedRelease release;
    private final String cookie;

    private Dashboard(DashboardOptions options, HttpServer server) {
        this.options = options;
        this.server = server;
        InetSocketAddress address = new InetSocketAddress(
                options.address().getAddress(), server.getAddress().getPort());
        this.check = new RequestCheck(address, options.tls().isPresent(), options.proxied());
        // Browsers send the cookies of one host to all its ports: those of several dashboards need different names.
        this.cookie = "holdfast-" + address.getPort();
        for (WatchedStore store : options.stores()) {
            int id = stores.size() + 1;
            stores.add(new ShownStore(
                    id,
                    store,
                    new StoreWatch("holdfast-ui-store-" + id, store.connector(), options.withoutCredentials())));
        }
        this.instances = new Instances(options.actuators());
        this.api = new LocksApi(stores, instances, options.release(), new EventStreams());
        this.release = new ForcedRelease(stores, options);
        AtomicInteger number = new AtomicInteger();
        this.threads = new ThreadPoolExecutor(
                0, EventStreams.MOST + SHORT_REQUESTS, 30, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
                    Thread thread = new Thread(task, "holdfast-ui-request-" + number.incrementAndGet());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    /** @throws IOException if the address cannot be listened at, say because the port is taken */
    public static Dashboard start(DashboardOptions options) throws IOException {
        limitTheServer();
        HttpServer server;
        if (options.tls().isPresent()) {
            HttpsServer https = HttpsServer.create(options.address(), 0);
            https.setHttpsConfigurator(new HttpsConfigurator(options.tls().get()));
            server = https;
        } else {
            server = HttpServer.create(options.address(), 0);
        }
        Dashboard dashboard = new Dashboard(options, server);
        server.createContext("/", dashboard::handle);
        server.setExecutor(dashboard.threads);
        server.start();
        return dashboard;
    }

    /** The JDK's server reads these when it is first used: small answers at once, and no request that never ends. */
    private static void limitTheServer() {
        setUnlessSet("sun.net.httpserver.nodelay", "true");
        setUnlessSet("sun.net.httpserver.maxReqTime", "20");
        setUnlessSet("jdk.httpserver.maxConnections", "300");
    }

    private static void setUnlessSet(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    /** The address that lets the next browser in, once. */
    public String address() {
        return origin() + "/?token=" + sessions.token();
    }

    public int port() {
        return server.getAddress().getPort();
    }

    private String origin() {
        return options.proxied()
                .map(Object::toString)
                .map(uri -> uri.replaceAll("/+$", ""))
                .orElseGet(() -> {
                    InetAddress listens = options.address().getAddress();
                    String name = listens.isLoopbackAddress()
                            ? "127.0.0.1"
                            : options.address().getHostString();
                    return (options.tls().isPresent() ? "https://" : "http://")
                            + (name.indexOf(':') >= 0 ? "[" + name + "]" : name) + ":" + port();
                });
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Replies.protect(exchange);
            try {
                answer(exchange);
            } catch (Refusal refusal) {
                Replies.refuse(exchange, refusal);
            } catch (StoreWatch.TooManyException e) {
                Replies.refuse(exchange, new Refusal(503, "too-many", e.getMessage()));
            } catch (RuntimeException e) {
                options.notices()
                        .accept("internal error: "
                                + options.withoutCredentials().apply(e.toString()));
                Replies.refuse(exchange, new Refusal(500, "internal", "something went wrong; the terminal says what"));
            }
        }
    }

    private void answer(HttpExchange exchange) throws IOException, Refusal {
        String method = exchange.getRequestMethod();
        String path = exchange.getRequestURI().getPath();
        check.require(method, exchange.getRequestHeaders());
        if (method.equals("POST") && path.equals("/api/release")) {
            check.requireOwnPage(exchange.getRequestHeaders());
            release.answer(exchange, requireSession(exchange));
            return;
        }
        if (!method.equals("GET")) {
            throw new Refusal(405, "usage", "only GET is answered here");
        }
        Query query = Query.of(exchange.getRequestURI().getRawQuery());
        Optional<Assets.Asset> asset = assets.find(path);
        if (asset.isPresent()) {
            send(exchange, 200, asset.get());
        } else if (path.equals("/")) {
            page(exchange, query);
        } else {
            check.requireOwnPage(exchange.getRequestHeaders());
            requireSession(exchange);
            api.answer(exchange, path, query);
        }
    }

    private void page(HttpExchange exchange, Query query) throws IOException {
        Optional<String> begun = query.text("token").flatMap(sessions::begin);
        if (begun.isPresent()) {
            boolean https = options.tls().isPresent()
                    || options.proxied()
                            .filter(uri -> uri.getScheme().equals("https"))
                            .isPresent();
            exchange.getResponseHeaders()
                    .set(
                            "Set-Cookie",
                            cookie + "=" + begun.get() + "; Path=/; HttpOnly; SameSite=Strict"
                                    + (https ? "; Secure" : ""));
            options.addresses().accept(address());
            // Not a redirect: after one, coming from a link elsewhere, the browser would keep a strict cookie back.
            send(exchange, 200, assets.page("opening.html"));
        } else if (session(exchange).isPresent()) {
            send(exchange, 200, assets.page("index.html"));
        } else {
            send(exchange, 401, assets.page("closed.html"));
        }
    }

    private static void send(HttpExchange exchange, int status, Assets.Asset asset) throws IOException {
        Replies.bytes(exchange, status, asset.type(), asset.body());
    }

    private String requireSession(HttpExchange exchange) throws Refusal {
        return session(exchange)
                .orElseThrow(() -> new Refusal(401, "no-session", "open the address that holdfast ui printed"));
    }

    private Optional<String> session(HttpExchange exchange) {
        List<String> lines = exchange.getRequestHeaders().getOrDefault("Cookie", List.of());
        for (String line : lines) {
            for (String pair : line.split(";")) {
                String[] parts = pair.strip().split("=", 2);
                if (parts.length == 2 && parts[0].equals(cookie) && sessions.isOpen(parts[1])) {
                    return Optional.of(parts[1]);
                }
            }
        }
        return Optional.empty();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
        instances.close();
        stores.forEach(shown -> shown.watch().close());
    }
}
