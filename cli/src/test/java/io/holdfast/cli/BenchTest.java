package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("holdfast bench")
class BenchTest {

    @TempDir
    Path directory;

    @Test
    void writesATableJsonAndAPage() throws IOException {
        Path json = directory.resolve("bench.json");
        Path html = directory.resolve("bench.html");

        Captured bench =
                Captured.of("bench", "--scenario", "few", "--seconds", "0.5", "--json=" + json, "--html=" + html);

        assertThat(bench.exitCode()).as(bench.out() + bench.err()).isZero();
        assertThat(bench.out()).contains("memory:", "file:", "few clients", "queued", "polling");
        assertThat(bench.err()).contains("1 of 4");
        assertThat(Files.readString(html)).contains("<svg");
        try (JsonParser parser = new JsonFactory().createParser(json.toFile())) {
            while (parser.nextToken() != null) {
                // Until the end, or an exception.
            }
        }
    }

    @Test
    void thatIsInterruptedIsNoErrorOfOurs() {
        try (HoldfastProcess bench =
                HoldfastProcess.start(directory, "bench", "--scenario", "few", "--seconds", "600")) {
            await().atMost(HoldfastProcess.PATIENCE).until(() -> bench.err().contains("1 of 4"));

            bench.signal("INT");

            assertThat(bench.exitCode()).isEqualTo(130);
            assertThat(bench.err())
                    .contains("interrupted, so there are no figures")
                    .doesNotContain("report it");
        }
    }
}
