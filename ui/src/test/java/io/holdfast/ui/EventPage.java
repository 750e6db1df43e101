package io.holdfast.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Predicate;

/** Events of one open page. */
final class EventPage implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final InputStream body;
    private final BufferedReader reader;

    /** @param cookie the header with the session */
    EventPage(Dashboard dashboard, String cookie, String path) throws IOException, InterruptedException {
        HttpResponse<InputStream> answer = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + dashboard.port() + path))
                                .header("Cookie", cookie.substring("Cookie: ".length()))
                                .build(),
                        BodyHandlers.ofInputStream());
        assertThat(answer.statusCode()).isEqualTo(200);
        body = answer.body();
        reader = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
    }

    JsonNode next() throws IOException {
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            if (line.startsWith("data: ")) {
                return JSON.readTree(line.substring("data: ".length()));
            }
        }
        throw new IOException("the stream ended");
    }

    /** Reads on until an event is as expected. */
    JsonNode await(Predicate<JsonNode> expected) throws IOException {
        long end = System.nanoTime() + Duration.ofSeconds(30).toNanos();
        JsonNode event = next();
        while (!expected.test(event)) {
            assertThat(System.nanoTime()).as("last event: %s", event).isLessThan(end);
            event = next();
        }
        return event;
    }

    @Override
    public void close() throws IOException {
        body.close();
    }
}
