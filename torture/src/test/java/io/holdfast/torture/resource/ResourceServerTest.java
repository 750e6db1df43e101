package io.holdfast.torture.resource;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.torture.history.Guard;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("the protected lists")
class ResourceServerTest {

    private ResourceServer server;
    private ResourceClient client;

    @BeforeEach
    void start() throws IOException {
        server = new ResourceServer();
        client = new ResourceClient(server.port());
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
    }

    @Test
    void aListThatChecksRefusesOldTokensOnceANewerHasRead() throws IOException {
        assertThat(client.read(Guard.CHECKED, "stock", 10, false)).contains("");
        assertThat(client.read(Guard.CHECKED, "stock", 11, false)).contains("");

        assertThat(client.write(Guard.CHECKED, "stock", 10, "late")).isEmpty();
        assertThat(client.read(Guard.CHECKED, "stock", 10, false)).isEmpty();
        assertThat(client.write(Guard.CHECKED, "stock", 11, "a")).contains("a");
        assertThat(server.lastWrites(Guard.CHECKED)).containsEntry("stock", "a");
    }

    @Test
    void aListThatDoesNotCheckTakesWhatComesLast() throws IOException {
        client.write(Guard.UNCHECKED, "stock", 11, "new");
        client.write(Guard.UNCHECKED, "stock", 10, "old");

        assertThat(server.lastWrites(Guard.UNCHECKED)).containsEntry("stock", "old");
    }

    @Test
    void readersAreNotFencedAgainstEachOtherButAgainstWriters() throws IOException {
        assertThat(client.read(Guard.CHECKED, "stock", 12, true)).isPresent();
        assertThat(client.read(Guard.CHECKED, "stock", 11, true)).isPresent();
        assertThat(client.write(Guard.CHECKED, "stock", 11, "before-the-reader"))
                .isEmpty();

        assertThat(client.write(Guard.CHECKED, "stock", 13, "a")).isPresent();
        assertThat(client.read(Guard.CHECKED, "stock", 12, true)).isEmpty();
    }

    @Test
    void listsAreApart() throws IOException {
        client.write(Guard.CHECKED, "one", 20, "a");

        assertThat(client.write(Guard.CHECKED, "two", 10, "b")).isPresent();
    }
}
