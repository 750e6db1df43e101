package io.holdfast.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Holdfast;
import io.holdfast.StoreUnavailableException;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A server that says no")
class NoConnectionTest {

    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);

    private static void assertSaid(String url, String address, String words) {
        // Who does not pass on what the server said goes on trying for so long.
        try (Holdfast client =
                Holdfast.builder().store(url).requestTimeout(REQUEST_TIMEOUT).connect()) {
            long start = System.nanoTime();
            assertThatThrownBy(() -> client.lock("x").tryAcquire())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(address)
                    .hasMessageContaining(words)
                    .hasMessageNotContaining("s3cret")
                    .satisfies(e -> {
                        Duration took = Duration.ofNanos(System.nanoTime() - start);
                        assertThat(took).isLessThan(REQUEST_TIMEOUT.dividedBy(2));
                    });
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void isQuotedAtOnceIfNobodyListens(Database database) throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0)) {
            port = closed.getLocalPort();
        }
        assertSaid(database.url(port), "127.0.0.1:" + port, "onnect");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void isQuotedAtOnceIfTheDatabaseIsMissing(Database database) {
        String url = database.url().replaceFirst("/[a-z]+\\?", "/nowhere?");
        assertSaid(url, "127.0.0.1:" + database.port(), "nowhere");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
    void isQuotedAtOnceIfTheUserIsUnknown(Database database) {
        String url = database.url().replaceFirst("user=[a-z]+", "user=nobody&password=s3cret");
        assertSaid(url, "127.0.0.1:" + database.port(), "nobody");
    }
}
