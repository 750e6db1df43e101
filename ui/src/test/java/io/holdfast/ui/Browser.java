package io.holdfast.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A real browser without a window, driven through WebDriver. */
final class Browser implements AutoCloseable {

    static final Duration SOON = Duration.ofSeconds(30);

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");

    private static final Pattern STARTED = Pattern.compile("started successfully on port (\\d+)");

    private final HttpClient client = HttpClient.newHttpClient();
    private final Process driver;
    private final String base;
    private final String session;

    private Browser(Process driver, String base, Path profile) {
        this.driver = driver;
        this.base = base;
        this.session = post(
                        "/session",
                        Map.of(
                                "capabilities",
                                Map.of(
                                        "alwaysMatch",
                                        Map.of(
                                                "goog:chromeOptions",
                                                Map.of(
                                                        "binary",
                                                        CHROMIUM.toString(),
                                                        "args",
                                                        List.of(
                                                                "--headless",
                                                                "--no-sandbox",
                                                                "--disable-gpu",
                                                                "--disable-quic",
                                                                "--no-first-run",
                                                                "--disable-background-networking",
                                                                "--disable-component-update",
                                                                "--disable-sync",
                                                                "--user-data-dir=" + profile)),
                                                "goog:loggingPrefs",
                                                Map.of("browser", "ALL")))))
                .get("sessionId")
                .asText();
    }

    /** @param directory for its profile and its log, empty */
    static Browser start(Path directory) {
        for (Path program : List.of(DRIVER, CHROMIUM)) {
            assertThat(program)
                    .as("a browser to test with: apt-get install chromium chromium-driver")
                    .exists();
        }
        try {
            Path log = directory.resolve("chromedriver.log");
            Process driver = new ProcessBuilder(DRIVER.toString(), "--port=0")
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            String base = "http://127.0.0.1:"
                    + await().atMost(SOON).until(() -> portIn(Files.readString(log)), port -> !port.isEmpty());
            return new Browser(driver, base, Files.createDirectory(directory.resolve("profile")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String portIn(String log) {
        Matcher started = STARTED.matcher(log);
        return started.find() ? started.group(1) : "";
    }

    void open(String address) {
        inSession("/url", Map.of("url", address));
    }

    String address() {
        return send(request("/session/" + session + "/url").GET().build()).asText();
    }

    /** The text of all elements a CSS selector finds, one per line; empty if there is none. */
    String text(String selector) {
        return script("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText).join('\\n')", selector)
                .asText();
    }

    void awaitText(String selector, String... parts) {
        await().atMost(SOON).untilAsserted(() -> assertThat(text(selector)).contains(parts));
    }

    /** The page goes on: what was found may have been replaced before it is clicked, and is then looked for again. */
    void click(String selector) {
        await().atMost(SOON).until(() -> {
            try {
                inSession("/element/" + element(selector) + "/click", Map.of());
                return true;
            } catch (AssertionError e) {
                if (String.valueOf(e.getMessage()).startsWith("stale element reference")) {
                    return false;
                }
                throw e;
            }
        });
    }

    void type(String selector, String text) {
        inSession("/element/" + element(selector) + "/value", Map.of("text", text));
    }

    /** What a keyboard sends to whatever has the focus. */
    void press(String... keys) {
        List<Map<String, String>> actions = Arrays.stream(keys)
                .<Map<String, String>>mapMulti((key, next) -> {
                    next.accept(Map.of("type", "keyDown", "value", key));
                    next.accept(Map.of("type", "keyUp", "value", key));
                })
                .toList();
        inSession("/actions", Map.of("actions", List.of(Map.of("type", "key", "id", "keys", "actions", actions))));
    }

    JsonNode script(String body, Object... arguments) {
        return inSession("/execute/sync", Map.of("script", body, "args", List.of(arguments)));
    }

    /** A script that calls its last argument when it is done. */
    JsonNode asyncScript(String body, Object... arguments) {
        return inSession("/execute/async", Map.of("script", body, "args", List.of(arguments)));
    }

    void look(int width, int height, String scheme) {
        devtools(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
        devtools(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    JsonNode devtools(String command, Map<String, ?> parameters) {
        return inSession("/goog/cdp/execute", Map.of("cmd", command, "params", parameters));
    }

    byte[] screenshot() {
        return Base64.getDecoder()
                .decode(send(request("/session/" + session + "/screenshot")
                                .GET()
                                .build())
                        .asText());
    }

    /** What scripts and the browser complained of since the last call. */
    List<String> complaints() {
        JsonNode entries = inSession("/se/log", Map.of("type", "browser"));
        List<String> messages = new ArrayList<>();
        entries.forEach(entry -> {
            if (!entry.get("level").asText().matches("INFO|DEBUG")) {
                messages.add(entry.get("message").asText());
            }
        });
        return messages;
    }

    private String element(String selector) {
        return inSession("/element", Map.of("using", "css selector", "value", selector))
                .get(ELEMENT)
                .asText();
    }

    private JsonNode inSession(String path, Map<String, ?> body) {
        return post("/session/" + session + path, body);
    }

    private JsonNode post(String path, Map<String, ?> body) {
        try {
            return send(request(path)
                    .POST(BodyPublishers.ofString(JSON.writeValueAsString(body)))
                    .build());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path))
                .timeout(Duration.ofSeconds(60))
                .header("Content-Type", "application/json; charset=utf-8");
    }

    private JsonNode send(HttpRequest request) {
        try {
            JsonNode value = JSON.readTree(
                            client.send(request, BodyHandlers.ofString()).body())
                    .get("value");
            if (value.isObject() && value.has("error")) {
                throw new AssertionError(value.get("error").asText() + ": "
                        + value.get("message").asText());
            }
            return value;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        try {
            send(request("/session/" + session).DELETE().build());
        } finally {
            List<ProcessHandle> all = driver.descendants().toList();
            driver.destroy();
            all.forEach(ProcessHandle::destroyForcibly);
            try {
                driver.waitFor(10, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
