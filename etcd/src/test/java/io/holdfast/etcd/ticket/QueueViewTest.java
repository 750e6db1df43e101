package io.holdfast.etcd.ticket;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.holdfast.etcd.internal.wire.Event;
import io.holdfast.etcd.internal.wire.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("A view kept up to date by events")
class QueueViewTest {

    private static final int SLOTS = 4;
    private static final int REVISIONS = 40;

    static LongStream seeds() {
        return LongStream.range(0, 500);
    }

    private static Event put(String slot, long created, long changed) {
        return event(Event.EventType.PUT, slot, created, changed);
    }

    private static Event delete(String slot, long at) {
        return event(Event.EventType.DELETE, slot, 0, at);
    }

    private static Event event(Event.EventType type, String slot, long created, long changed) {
        return Event.newBuilder()
                .setType(type)
                .setKv(KeyValue.newBuilder()
                        .setKey(ByteString.copyFromUtf8(slot))
                        .setCreateRevision(created)
                        .setModRevision(changed))
                .build();
    }

    private static List<Long> queue(QueueView view) {
        return view.tickets().map(QueueView.Entry::created).toList();
    }

    /** However often what was told is told again: at the start of a batch, between its revisions, or as a batch of its own. */
    @ParameterizedTest
    @MethodSource("seeds")
    void p1ShowsTheQueueWhateverIsRepeated(long seed) {
        Random random = new Random(seed);
        Map<String, Long> queue = new TreeMap<>();
        QueueView view = new QueueView();
        List<Event> told = new ArrayList<>();
        List<Event> batch = new ArrayList<>();
        for (int revision = 1; revision <= REVISIONS; revision++) {
            batch.addAll(some(random, told));
            List<Event> now = revision(random, queue, revision);
            told.addAll(now);
            batch.addAll(now);
            batch.addAll(some(random, told));
            if (random.nextBoolean()) {
                view.apply(batch);
                view.apply(some(random, told));
                batch.clear();

                assertThat(queue(view))
                        .containsExactlyElementsOf(
                                queue.values().stream().sorted().toList());
            }
        }
    }

    /** Some slots change hands at one revision, as when a lease is revoked. */
    private static List<Event> revision(Random random, Map<String, Long> queue, long revision) {
        List<Event> events = new ArrayList<>();
        boolean revoked = random.nextInt(4) == 0;
        for (String slot : revoked ? List.copyOf(queue.keySet()) : List.of("s" + random.nextInt(SLOTS))) {
            Long created = queue.get(slot);
            if (created == null) {
                queue.put(slot, revision);
                events.add(put(slot, revision, revision));
            } else if (revoked || random.nextBoolean()) {
                queue.remove(slot);
                events.add(delete(slot, revision));
            } else {
                events.add(put(slot, created, revision));
            }
        }
        return events;
    }

    private static List<Event> some(Random random, List<Event> told) {
        int from = random.nextInt(told.size() + 1);
        int to = from + random.nextInt(told.size() + 1 - from);
        return List.copyOf(told.subList(from, to));
    }

    @Test
    void p1KeepsTheSecondUserOfASlotIfTheGoingOfTheFirstIsRepeatedBehindIt() {
        QueueView view = new QueueView();
        view.apply(List.of(put("0", 5, 5)));

        view.apply(List.of(delete("0", 6), put("0", 7, 7), delete("0", 6)));

        assertThat(queue(view)).containsExactly(7L);
    }
}
