package io.holdfast.torture.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Demand;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("history")
class HistoryTest {

    @TempDir
    Path directory;

    @Test
    void everyPartOfAnEventComesBack() {
        Event full = Event.at(-5, "w\"1", Operation.WRITE, Phase.TOLD_LOST)
                .lock("stock/ä\n")
                .acquisition("w1#1")
                .owner("abc-1")
                .demand(Demand.permits(2, 5))
                .token(1L << 60)
                .sent(3, 4)
                .until(Long.MIN_VALUE)
                .guard(Guard.CHECKED)
                .value("v")
                .previous("")
                .detail("why")
                .build();
        Event empty = Event.at(7, "nemesis", Operation.FAULT, Phase.INVOKE).build();

        assertThat(writtenAndRead("a", full, empty)).containsExactly(full, empty);
    }

    @Test
    void everyKindOfDemandComesBack() {
        List<Event> events =
                List.of(asks(1, Demand.exclusive()), asks(2, Demand.shared()), asks(3, Demand.permits(1, 3)));

        assertThat(writtenAndRead("a", events.toArray(Event[]::new))).isEqualTo(events);
    }

    @Test
    void filesAreMergedInOrderOfTime() {
        write("a", asks(1, Demand.shared()), asks(5, Demand.shared()));
        write("b", asks(3, Demand.shared()), asks(4, Demand.shared()));

        assertThat(HistoryReader.directory(directory)).extracting(Event::nanos).containsExactly(1L, 3L, 4L, 5L);
    }

    @Test
    void aProcessKilledBeforeItWroteHasNoHistory() {
        Event event = asks(1, Demand.exclusive());
        Path file = write("a", event);

        assertThat(HistoryReader.files(List.of(file, directory.resolve("never-written.jsonl"))))
                .containsExactly(event);
    }

    @Test
    void aLineTornByAKillNeverHappened() throws Exception {
        Event whole = asks(1, Demand.exclusive());
        Path file = write("a", whole, asks(2, Demand.exclusive()));
        byte[] bytes = Files.readAllBytes(file);

        Files.write(file, java.util.Arrays.copyOf(bytes, bytes.length - 2));

        assertThat(HistoryReader.files(List.of(file))).containsExactly(whole);
    }

    @Test
    void aBrokenLineInTheMiddleIsAnError() throws Exception {
        Path file = write("a", asks(1, Demand.exclusive()));

        Files.writeString(file, "{\"nanos\":1\n" + Files.readString(file));

        assertThatThrownBy(() -> HistoryReader.files(List.of(file))).isInstanceOf(UncheckedIOException.class);
    }

    @Test
    void twoWritersNeverShareAFile() {
        Path file = write("a");

        assertThatThrownBy(() -> HistoryWriter.create(file)).isInstanceOf(UncheckedIOException.class);
    }

    @Test
    void anInterruptedThreadStillWrites() {
        Path file = directory.resolve("a.jsonl");
        try (HistoryWriter writer = HistoryWriter.create(file)) {
            Thread.currentThread().interrupt();
            writer.write(asks(1, Demand.exclusive()));
            assertThat(Thread.interrupted()).isTrue();
            writer.write(asks(2, Demand.exclusive()));
        }

        assertThat(HistoryReader.files(List.of(file))).hasSize(2);
    }

    private static Event asks(long nanos, Demand demand) {
        return Event.at(nanos, "w1", Operation.ACQUIRE, Phase.INVOKE)
                .demand(demand)
                .build();
    }

    private List<Event> writtenAndRead(String name, Event... events) {
        return HistoryReader.files(List.of(write(name, events)));
    }

    private Path write(String name, Event... events) {
        Path file = directory.resolve(name + HistoryReader.SUFFIX);
        try (HistoryWriter writer = HistoryWriter.create(file)) {
            for (Event event : events) {
                writer.write(event);
            }
        }
        return file;
    }
}
