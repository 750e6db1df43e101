package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("holdfast ui")
class UiTest {

    private static final Duration SOON = HoldfastProcess.PATIENCE;
    private static final Pattern ADDRESS = Pattern.compile("https?://127\\.0\\.0\\.1:\\d+/\\?token=[\\w-]+");

    @TempDir
    Path directory;

    private final HttpClient http = HttpClient.newHttpClient();

    private HttpResponse<String> get(String address, String... headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address));
        return http.send((headers.length == 0 ? request : request.headers(headers)).build(), BodyHandlers.ofString());
    }

    private static String awaitAddress(HoldfastProcess ui, int number) {
        await().atMost(SOON)
                .until(() ->
                        !ui.isAlive() || ADDRESS.matcher(ui.out()).results().count() >= number);
        assertThat(ui.isAlive()).as(ui.err()).isTrue();
        Matcher matcher = ADDRESS.matcher(ui.out());
        for (int i = 0; i < number; i++) {
            assertThat(matcher.find()).isTrue();
        }
        return matcher.group();
    }

    @Test
    void printsAnAddressThatWorksOnceAndThenTheNext() throws Exception {
        try (HoldfastProcess ui = HoldfastProcess.start(directory, "ui", "--port", "0");
                HoldfastProcess holder = HoldfastProcess.start(directory, "run", "job", "--", "sleep", "60")) {
            String address = awaitAddress(ui, 1);

            HttpResponse<String> opened = get(address);
            String cookie =
                    opened.headers().firstValue("Set-Cookie").orElseThrow().replaceAll(";.*", "");
            String next = awaitAddress(ui, 2);
            String base = address.substring(0, address.indexOf("?"));

            assertThat(opened.statusCode()).isEqualTo(200);
            assertThat(get(address).statusCode()).isEqualTo(401);
            assertThat(next).isNotEqualTo(address).startsWith(base);
            await().atMost(SOON)
                    .until(() ->
                            get(base + "api/locks", "Cookie", cookie).body().contains("\"name\":\"job\""));
            assertThat(holder.isAlive()).isTrue();
            assertThat(ui.err()).isEmpty();
        }
    }

    @Test
    void showsNoPasswordOfItsStore() throws Exception {
        String store = "redis://app:s3cret-word@127.0.0.1:1";
        try (HoldfastProcess ui = HoldfastProcess.start(
                directory, Map.of("HOLDFAST_STORE", store), "ui", "--port", "0", "--store", store, "--json")) {
            String address = awaitAddress(ui, 1);
            String base = address.substring(0, address.indexOf("?"));
            String cookie = get(address)
                    .headers()
                    .firstValue("Set-Cookie")
                    .orElseThrow()
                    .replaceAll(";.*", "");

            HttpResponse<String> refused = get(base + "api/locks", "Cookie", cookie);
            String stores = get(base + "api/stores", "Cookie", cookie).body();

            assertThat(refused.statusCode()).isEqualTo(503);
            assertThat(stores).contains("\"state\":\"down\"", "redis://***@127.0.0.1:1");
            assertThat(refused.body() + stores + ui.out() + ui.err()).doesNotContain("s3cret-word");
            assertThat(ui.out()).startsWith("{\"address\":\"http://127.0.0.1:");
        }
    }

    @Test
    void servesHttpsWithTheKeyItIsGiven() throws Exception {
        Path keys = directory.resolve("ui.p12");
        String password = "changed-it";
        assertThat(new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "keytool")
                                        .toString(),
                                "-genkeypair",
                                "-keyalg",
                                "EC",
                                "-dname",
                                "CN=127.0.0.1",
                                "-ext",
                                "san=ip:127.0.0.1",
                                "-storetype",
                                "PKCS12",
                                "-keystore",
                                keys.toString(),
                                "-storepass",
                                password)
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("keytool.log").toFile())
                        .start()
                        .waitFor())
                .isZero();
        Map<String, String> environment =
                Map.of("HOLDFAST_STORE", "file:" + directory.resolve("locks"), "HOLDFAST_UI_TLS_PASSWORD", password);
        try (HoldfastProcess ui =
                HoldfastProcess.start(directory, environment, "ui", "--port", "0", "--tls", keys.toString())) {
            String address = awaitAddress(ui, 1);

            HttpResponse<String> opened = HttpClient.newBuilder()
                    .sslContext(trusting(keys, password))
                    .build()
                    .send(HttpRequest.newBuilder(URI.create(address)).build(), BodyHandlers.ofString());

            assertThat(address).startsWith("https://127.0.0.1:");
            assertThat(opened.headers().firstValue("Set-Cookie").orElseThrow()).contains("; Secure");
            assertThat(ui.out() + ui.err()).doesNotContain(password);
        }
    }

    private static SSLContext trusting(Path keys, String password) throws Exception {
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(KeyStore.getInstance(keys.toFile(), password.toCharArray()));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trusted.getTrustManagers(), null);
        return context;
    }

    @Test
    void saysThatItsPortIsTaken() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Captured refused = Captured.of("ui", "--port", Integer.toString(taken.getLocalPort()));

            assertThat(refused.exitCode()).isEqualTo(64);
            assertThat(refused.err()).contains("port " + taken.getLocalPort(), "--port 0");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "--bind 192.0.2.7, --tls",
        "--bind 0.0.0.0, one known address",
        "--behind-proxy locks.example.com, https://locks.example.com",
        "--tls missing.p12, missing.p12",
        "--port 70000, 65535",
        "--store nothing://here, nothing",
        "--store nonsense, nonsense"
    })
    void refusesWhatWouldNotBeSafeOrCannotBe(String line, String reason) {
        Captured refused = Captured.of(("ui " + line).split(" "));

        assertThat(refused.exitCode()).as(refused.err()).isEqualTo(64);
        assertThat(refused.err()).contains(reason);
    }
}
