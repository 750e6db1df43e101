package io.holdfast.ui;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.sun.net.httpserver.HttpExchange;
import io.holdfast.Holdfast;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.UnsupportedLockException;
import io.holdfast.ui.http.Refusal;
import io.holdfast.ui.http.Replies;
import io.holdfast.ui.http.Sessions;
import io.holdfast.ui.json.JsonText;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Takes a lock away from its holders for a person who has typed its name, and writes down who did. Thread-safe. */
final class ForcedRelease {

    private static final int LONGEST_BODY = 8_192;

    private final JsonFactory factory = new JsonFactory();
    private final List<ShownStore> stores;
    private final DashboardOptions.Release release;
    private static final Pattern INVISIBLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

    private final Consumer<String> audit;
    private final UnaryOperator<String> withoutCredentials;

    ForcedRelease(List<ShownStore> stores, DashboardOptions options) {
        this.stores = stores;
        this.release = options.release();
        this.audit = options.notices();
        this.withoutCredentials = options.withoutCredentials();
    }

    void answer(HttpExchange exchange, String session) throws IOException, Refusal {
        if (release != DashboardOptions.Release.ALLOWED) {
            throw new Refusal(
                    403, "read-only", "this dashboard only looks; start it with --allow-release to let it act");
        }
        Map<String, String> fields = fields(exchange);
        String name = fields.getOrDefault("name", "");
        ShownStore shown = store(fields.getOrDefault("store", ""));
        if (name.isEmpty() || !name.equals(fields.get("typed"))) {
            throw new Refusal(409, "not-confirmed", "the name that was typed is not the lock's");
        }
        Holdfast holdfast = shown.watch()
                .holdfast()
                .orElseThrow(() -> new Refusal(503, "store-unreachable", "the store has not answered yet"));
        String who = "lock '" + name + "' in " + shown.store().label() + ", for "
                + exchange.getRemoteAddress().getAddress().getHostAddress() + " session " + Sessions.mark(session);
        int released = release(holdfast, name, who);
        Replies.json(
                exchange, 200, JsonText.object(json -> json.text("name", name).number("released", released)));
    }

    private int release(Holdfast holdfast, String name, String who) throws Refusal {
        try {
            LockView before = holdfast.lock(name).inspect();
            // Before it is done: if this process ends in between, the line is there.
            write("forced release of " + who + ", held by " + holders(before));
            int released = holdfast.administration().forceRelease(name);
            write("forced release of " + who + ": " + released + (released == 1 ? " holder" : " holders") + " lost it");
            return released;
        } catch (UnsupportedLockException e) {
            write("forced release of " + who + " refused: " + e.getMessage());
            throw new Refusal(409, "unsupported", withoutCredentials.apply(e.getMessage()));
        } catch (LockException e) {
            write("forced release of " + who + " failed, the lock may be free or still held: " + e.getMessage());
            throw new Refusal(503, "store-unreachable", withoutCredentials.apply(e.getMessage()));
        }
    }

    private void write(String line) {
        audit.accept("audit: " + Instant.now() + " " + onOneLine(withoutCredentials.apply(line)));
    }

    /** Names of locks and clients are anybody's to choose: none may look like a line of its own, or steer a terminal. */
    private static String onOneLine(String text) {
        return INVISIBLE
                .matcher(text)
                .replaceAll(found ->
                        found.group().chars().mapToObj("\\\\u%04x"::formatted).collect(Collectors.joining()));
    }

    private static String holders(LockView view) {
        return view.isHeld()
                ? view.holders().stream()
                        .limit(5)
                        .map(holder ->
                                holder.origin().map(LockView.Origin::toString).orElse("another program")
                                        + holder.token()
                                                .map(token -> ", token " + token)
                                                .orElse(""))
                        .collect(Collectors.joining("; "))
                : "nobody";
    }

    private ShownStore store(String id) throws Refusal {
        return stores.stream()
                .filter(shown -> Integer.toString(shown.id()).equals(id))
                .findFirst()
                .orElseThrow(() -> Refusal.usage("there is no store '" + id + "'"));
    }

    /** A flat object of texts and numbers. */
    private Map<String, String> fields(HttpExchange exchange) throws IOException, Refusal {
        String type = exchange.getRequestHeaders().getFirst("Content-Type");
        if (type == null || !type.startsWith("application/json")) {
            throw new Refusal(415, "usage", "a release is asked for in JSON");
        }
        byte[] body = exchange.getRequestBody().readNBytes(LONGEST_BODY + 1);
        if (body.length > LONGEST_BODY) {
            throw new Refusal(413, "usage", "that is too long for a release");
        }
        Map<String, String> fields = new HashMap<>();
        try (JsonParser parser = factory.createParser(body)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token.isScalarValue() && parser.currentName() != null) {
                    fields.put(parser.currentName(), parser.getText());
                }
            }
        } catch (JsonProcessingException e) {
            throw Refusal.usage("a release is asked for in JSON");
        }
        return fields;
    }
}
