package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ManyProcessesTest {

    private static final int PROCESSES = 50;

    @TempDir
    Path directory;

    @Test
    void fiftyProcessesAtOnceCountToFiftyWithTokensInOrder() throws IOException {
        countToFifty(directory, "file:" + directory.resolve("locks"));
    }

    static void countToFifty(Path directory, String store) throws IOException {
        Files.writeString(directory.resolve("f"), "0\n");
        List<HoldfastProcess> processes = new ArrayList<>();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                processes.add(HoldfastProcess.start(
                        directory,
                        Map.of("HOLDFAST_STORE", store),
                        "run",
                        "-w",
                        "10m",
                        "counter",
                        "--",
                        "sh",
                        "-c",
                        "n=$(cat f); echo $((n+1)) > f; echo $HOLDFAST_TOKEN >> tokens"));
            }
            for (HoldfastProcess process : processes) {
                assertThat(process.exitCode()).as(process.err()).isZero();
            }
        } finally {
            processes.forEach(HoldfastProcess::close);
        }

        assertThat(directory.resolve("f")).hasContent(Integer.toString(PROCESSES));
        List<Long> tokens = Files.readAllLines(directory.resolve("tokens")).stream()
                .map(Long::valueOf)
                .toList();
        assertThat(tokens).hasSize(PROCESSES).doesNotHaveDuplicates().isSorted();
    }
}
