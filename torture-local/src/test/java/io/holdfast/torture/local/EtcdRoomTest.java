package io.holdfast.torture.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.servers.EtcdServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("an etcd that was full and was tidied up")
class EtcdRoomTest {

    @Test
    void doesNotDoAfterAKillWhatItHadRefused() throws Exception {
        try (EtcdServer server = EtcdServer.builder()
                .args("--quota-backend-bytes", Integer.toString(8 << 20))
                .start()) {
            EtcdRoom room = new EtcdRoom(List.of(server.endpoint()));
            room.begin();
            room.makeRoom();
            for (int i = 0; i < 5; i++) {
                assertThat(room.put("refused", "")).contains(EtcdRoom.REFUSED);
            }
            room.disarm();
            room.defragment(); // so that everything is in the database
            long before = revision(server);

            server.kill();
            server.restart();

            assertThat(revision(server)).isEqualTo(before);
        }
    }

    private static long revision(EtcdServer server) throws Exception {
        String status = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create(server.endpoint() + "/v3/maintenance/status"))
                                .POST(HttpRequest.BodyPublishers.ofString("{}"))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
        Matcher revision = Pattern.compile("\"revision\":\"(\\d+)\"").matcher(status);
        assertThat(revision.find()).as(status).isTrue();
        return Long.parseLong(revision.group(1));
    }
}
