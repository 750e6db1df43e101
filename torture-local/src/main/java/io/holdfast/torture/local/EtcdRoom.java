package io.holdfast.torture.local;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Fills etcd to its quota with keys of no use, and tidies up as its operators should: delete, compact, defragment, disarm, write.
 *
 * <p>The write is for etcd 3.4. It replays its log from the last write that changed a key; that the alarm was disarmed is no such
 * write, but is in its database at once. If it is killed between the two it replays writes that were refused while the alarm was
 * on, and as it is off by now they are done: members count revisions apart from then on.
 */
final class EtcdRoom implements ServerStand.Trouble {

    /** Small enough to be filled quickly, large enough for the history of a run. */
    static final String QUOTA = Integer.toString(32 << 20);

    private static final int MOST_PUTS = 60;
    private static final String PREFIX = "torture-filling/";
    static final String REFUSED = "space exceeded";
    private static final Pattern RAISING_MEMBER = Pattern.compile("\"memberID\":\"(\\d+)\"");
    private static final Pattern REVISION = Pattern.compile("\"revision\":\"(\\d+)\"");

    private final List<String> endpoints;
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(2))
            .build();

    EtcdRoom(List<String> endpoints) {
        this.endpoints = List.copyOf(endpoints);
    }

    @Override
    public void begin() throws IOException, InterruptedException {
        String megabyte = "x".repeat(1 << 20);
        for (int i = 0; i < MOST_PUTS; i++) {
            if (put(Integer.toString(i), megabyte).contains(REFUSED)) {
                return;
            }
        }
        throw new IOException("etcd took " + MOST_PUTS + " MB and was not full");
    }

    @Override
    public void end() throws IOException, InterruptedException {
        makeRoom();
        disarm();
    }

    void makeRoom() throws IOException, InterruptedException {
        String afterPrefix = PREFIX.substring(0, PREFIX.length() - 1) + (char) ('/' + 1);
        String deleted = post(
                "/v3/kv/deleterange",
                "{\"key\":\"" + encoded(PREFIX) + "\",\"range_end\":\"" + encoded(afterPrefix) + "\"}");
        Matcher revision = REVISION.matcher(deleted);
        if (!revision.find()) {
            throw new IOException("etcd did not delete: " + deleted);
        }
        post("/v3/kv/compaction", "{\"revision\":\"" + revision.group(1) + "\",\"physical\":true}");
        defragment();
    }

    void defragment() throws IOException, InterruptedException {
        for (String endpoint : endpoints) {
            postTo(endpoint, "/v3/maintenance/defragment", "{}");
        }
    }

    void disarm() throws IOException, InterruptedException {
        // Every member that refused a write has raised an alarm of its own.
        Matcher raising = RAISING_MEMBER.matcher(post("/v3/maintenance/alarm", "{\"action\":\"GET\"}"));
        while (raising.find()) {
            post(
                    "/v3/maintenance/alarm",
                    "{\"action\":\"DEACTIVATE\",\"memberID\":\"" + raising.group(1) + "\",\"alarm\":\"NOSPACE\"}");
        }
        put("written-since", "");
    }

    /** The answer's header tells the revision. */
    String put(String key, String value) throws IOException, InterruptedException {
        return post("/v3/kv/put", "{\"key\":\"" + encoded(PREFIX + key) + "\",\"value\":\"" + encoded(value) + "\"}");
    }

    private String post(String path, String json) throws IOException, InterruptedException {
        IOException failure = new IOException("no server");
        for (String endpoint : endpoints) {
            try {
                return postTo(endpoint, path, json);
            } catch (IOException e) {
                failure = e;
            }
        }
        throw failure;
    }

    private String postTo(String endpoint, String path, String json) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(endpoint + path))
                .timeout(Duration.ofSeconds(10))
                .POST(HttpRequest.BodyPublishers.ofString(json))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
