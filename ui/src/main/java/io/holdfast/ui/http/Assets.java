package io.holdfast.ui.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The files a page is made of, shipped in the jar. Thread-safe. */
public final class Assets {

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml");

    private static final String PAGES = "/io/holdfast/ui/page/";

    /** By address; nothing else is served, so no address can lead out of here. */
    private static final Map<String, String> FILES = Map.ofEntries(
            Map.entry("/style.css", PAGES + "style.css"),
            Map.entry("/icon.svg", PAGES + "icon.svg"),
            Map.entry("/app.js", PAGES + "app.js"),
            Map.entry("/overview.js", PAGES + "overview.js"),
            Map.entry("/instances.js", PAGES + "instances.js"),
            Map.entry("/lock.js", PAGES + "lock.js"),
            Map.entry("/blocked.js", PAGES + "blocked.js"),
            Map.entry("/plots.js", PAGES + "plots.js"),
            Map.entry("/text.js", PAGES + "text.js"),
            Map.entry("/elements.js", PAGES + "elements.js"),
            Map.entry("/live.js", PAGES + "live.js"),
            Map.entry("/parts.js", PAGES + "parts.js"),
            Map.entry("/chart.js", "/META-INF/resources/webjars/chart.js/4.5.1/dist/chart.umd.min.js"));

    /**
     * A file as it is sent.
     *
     * @param type of its content
     */
    public record Asset(String type, byte[] body) {}

    private final Map<String, Asset> read = new ConcurrentHashMap<>();

    public Optional<Asset> find(String path) {
        return Optional.ofNullable(FILES.get(path)).map(this::asset);
    }

    public Asset page(String name) {
        return asset(PAGES + name);
    }

    private Asset asset(String file) {
        return read.computeIfAbsent(file, Assets::load);
    }

    private static Asset load(String file) {
        try (InputStream in = Assets.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new IllegalStateException(file + " is missing in the jar");
            }
            return new Asset(TYPES.get(file.substring(file.lastIndexOf('.') + 1)), in.readAllBytes());
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + file + " in the jar", e);
        }
    }
}
