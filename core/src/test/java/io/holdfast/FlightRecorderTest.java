package io.holdfast;

import static io.holdfast.ManualClient.TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The flight recorder")
@Timeout(60)
class FlightRecorderTest {

    @TempDir
    private Path directory;

    @Test
    void hasAnEventForEachThingThatHappens() throws Exception {
        try (Recording recording = new Recording()) {
            for (String event : List.of("Acquire", "Hold", "Renewal", "Lost", "StoreRequest")) {
                recording.enable("io.holdfast." + event).withThreshold(Duration.ZERO);
            }
            recording.start();
            long token;
            try (ManualClient client = new ManualClient()) {
                client.lock("released").acquire().release();
                client.holdElsewhere("taken");
                client.lock("taken").tryAcquire();
                Lease lease = client.lock("lost").acquire();
                token = lease.token();
                client.passUntil(
                        TTL.dividedBy(30), () -> client.holdfast.statistics().renewed() == 1);
                client.store.network = FaultyStore.Network.DOWN;
                client.passUntil(
                        TTL.dividedBy(30), () -> client.holdfast.statistics().renewalsFailed() >= 1);
                client.time.advance(TTL);
                await().until(() -> client.holdfast.statistics().lost().get(LossReason.EXPIRED) == 1);
            }
            recording.stop();

            List<RecordedEvent> events = eventsOf(recording);
            assertThat(events(events, "Acquire", "lock", "outcome"))
                    .contains("released GRANTED", "taken TAKEN", "lost GRANTED");
            assertThat(events(events, "Hold", "lock", "outcome")).contains("released RELEASED", "lost LOST");
            assertThat(events(events, "Renewal", "lock", "outcome")).contains("lost RENEWED", "lost FAILED");
            assertThat(events(events, "Lost", "lock", "token", "reason")).containsExactly("lost " + token + " EXPIRED");
            assertThat(events(events, "StoreRequest", "operation", "outcome"))
                    .contains("QUEUE ANSWERED", "TRY ANSWERED", "RELEASE ANSWERED", "RENEW ANSWERED")
                    .contains("RENEW StoreUnavailableException");
        }
    }

    @Test
    void leavesOutByDefaultWhatIsOverInAMoment() throws Exception {
        try (Recording recording = new Recording();
                ManualClient client = new ManualClient()) {
            List.of("Acquire", "Hold", "StoreRequest").forEach(event -> recording.enable("io.holdfast." + event));
            recording.start();
            client.lock("quick").acquire().release();
            client.store.beforeAsk = FlightRecorderTest::aWhile;
            client.lock("slow").acquire().release();
            client.store.beforeAsk = () -> {};
            recording.stop();

            List<RecordedEvent> events = eventsOf(recording);
            assertThat(events(events, "Acquire", "lock", "outcome")).contains("slow GRANTED");
            assertThat(events.size()).as("of eight").isLessThan(8);
        }
    }

    private static void aWhile() {
        try {
            assertThat(new CountDownLatch(1).await(50, TimeUnit.MILLISECONDS)).isFalse();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private List<RecordedEvent> eventsOf(Recording recording) throws IOException {
        Path file = directory.resolve("recording.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file);
    }

    private static List<String> events(List<RecordedEvent> all, String name, String... fields) {
        return all.stream()
                .filter(event -> event.getEventType().getName().equals("io.holdfast." + name))
                .map(event -> {
                    StringBuilder text = new StringBuilder();
                    for (String field : fields) {
                        text.append(text.isEmpty() ? "" : " ").append(event.<Object>getValue(field));
                    }
                    return text.toString();
                })
                .toList();
    }
}
