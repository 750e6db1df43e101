package io.holdfast.ui.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import io.holdfast.ui.json.JsonText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Writes answers, all with the headers that keep a page to itself. */
public final class Replies {

    /** No script, style or image but our own files, none inside the page, and no frame around it. */
    static final String CONTENT_POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
                    + " form-action 'none'; frame-ancestors 'none'";

    private Replies() {}

    public static void protect(HttpExchange exchange) {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Content-Security-Policy", CONTENT_POLICY);
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("X-Frame-Options", "DENY");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("Cross-Origin-Resource-Policy", "same-origin");
        headers.set("Cross-Origin-Opener-Policy", "same-origin");
        headers.set("Cache-Control", "no-store");
    }

    public static void json(HttpExchange exchange, int status, String json) throws IOException {
        bytes(exchange, status, "application/json; charset=utf-8", (json + "\n").getBytes(StandardCharsets.UTF_8));
    }

    public static void bytes(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    public static void refuse(HttpExchange exchange, Refusal refusal) throws IOException {
        json(
                exchange,
                refusal.status(),
                JsonText.object(json -> json.text("error", refusal.word()).text("message", refusal.getMessage())));
    }
}
