package io.holdfast.torture.cell;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.HistoryReader;
import io.holdfast.torture.history.HistoryWriter;
import io.holdfast.torture.history.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("what is written down of a busy machine")
class MachineWatchTest {

    /** So long that this machine cannot be late by a third of it. */
    private static final Duration TTL = Duration.ofHours(1);

    @TempDir
    Path directory;

    private Path statistics;
    private Path histories;
    private HistoryWriter history;

    @BeforeEach
    void open() throws IOException {
        statistics = Files.createDirectories(directory.resolve("proc/7/task/9")).resolve("schedstat");
        histories = Files.createDirectory(directory.resolve("history"));
        history = HistoryWriter.create(histories.resolve("runner" + HistoryReader.SUFFIX));
        waited(Duration.ZERO);
    }

    @AfterEach
    void close() {
        history.close();
    }

    @Test
    void aWorkerThatWaitsForAProcessorMostOfTheTime() throws Exception {
        try (MachineWatch machine = new MachineWatch(TTL, history, directory.resolve("proc"))) {
            machine.follow(7);
            waited(Duration.ofSeconds(300));

            await().until(() -> !busy().isEmpty());
        }

        assertThat(busy().get(0).detail()).contains("waited for a processor for 300000 of");
        assertThat(busy().get(0).untilNanos()).isGreaterThan(busy().get(0).nanos());
    }

    @Test
    void notOneThatWaitsForItNowAndThenOrHasEnded() throws Exception {
        try (MachineWatch machine = new MachineWatch(TTL, history, directory.resolve("proc"))) {
            machine.follow(7);
            machine.follow(8);
            waited(Duration.ofMillis(200));
            long startNanos = System.nanoTime();

            await().until(() ->
                    System.nanoTime() - startNanos > Duration.ofMillis(1200).toNanos());
        }

        assertThat(busy()).isEmpty();
    }

    @Test
    void itselfWhenItWakesUpLate() throws Exception {
        try (MachineWatch machine = new MachineWatch(Duration.ofNanos(1), history, directory.resolve("proc"))) {
            await().until(() -> !busy().isEmpty());
        }

        assertThat(busy().get(0).detail()).contains("woke up late");
    }

    private void waited(Duration time) throws IOException {
        Path next = directory.resolve("next");
        Files.writeString(next, "123 " + time.toNanos() + " 4\n");
        Files.move(next, statistics, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    }

    private List<Event> busy() throws IOException {
        return HistoryReader.directory(histories).stream()
                .filter(event -> event.operation() == Operation.BUSY)
                .toList();
    }
}
