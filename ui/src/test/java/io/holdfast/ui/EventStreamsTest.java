package io.holdfast.ui;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.holdfast.ui.http.Refusal;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("streams of events")
class EventStreamsTest {

    /** More than any buffer on the way takes. */
    private static final String EVENT = "x".repeat(16 << 20);

    private final CompletableFuture<String> end = new CompletableFuture<>();
    private final EventStreams streams = new EventStreams(Duration.ofMillis(500));

    @Test
    void endWithABrowserThatTakesNothing() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            try (exchange) {
                streams.serve(exchange, news -> new PageView() {
                    @Override
                    public String event() {
                        return EVENT;
                    }

                    @Override
                    public void close() {
                        end.complete("page closed");
                    }
                });
            } catch (Refusal e) {
                end.completeExceptionally(e);
            }
        });
        server.start();
        try (Socket browser =
                new Socket(InetAddress.getLoopbackAddress(), server.getAddress().getPort())) {
            browser.getOutputStream().write("GET / HTTP/1.1\r\nHost: here\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

            assertThat(end).succeedsWithin(Duration.ofSeconds(30)).isEqualTo("page closed");
        } finally {
            server.stop(0);
        }
    }
}
