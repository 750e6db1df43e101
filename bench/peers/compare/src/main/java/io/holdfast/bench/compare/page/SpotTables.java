package io.holdfast.bench.compare.page;

import io.holdfast.bench.compare.arena.Arenas;
import io.holdfast.bench.compare.kept.Kept;
import io.holdfast.bench.compare.kept.Part;
import io.holdfast.bench.compare.spot.Crowds;
import io.holdfast.bench.compare.spot.Distance;
import io.holdfast.bench.compare.spot.History;
import io.holdfast.bench.compare.spot.Spot;
import io.holdfast.bench.report.Text;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.DoubleFunction;

/** The tables of what was measured once: crowds, history, cold start, distance. */
final class SpotTables {

    private final Kept kept;
    private final PartLetters letters;
    private final StringBuilder text = new StringBuilder();

    SpotTables(Kept kept, PartLetters letters) {
        this.kept = kept;
        this.letters = letters;
    }

    private record Column(String title, String contender, Spot.Kind kind, long size, DoubleFunction<String> words) {}

    String text() {
        long far = Distance.DELAY.toNanos() / 1000;
        table(
                "(i) crowds",
                "A reader's cycle beside those who hold the lock as readers; futures in strict order served from a line that"
                        + " stands; and how long it takes until 250 are served behind waiters that were killed, with a ttl of "
                        + Crowds.SHORT_TTL.toSeconds() + " s, which is what the dead may cost.",
                List.of(
                        ours("10 readers", Spot.Kind.READERS, Crowds.FEW_READERS, Text::micros),
                        ours("5,000 readers", Spot.Kind.READERS, Crowds.MANY_READERS, Text::micros),
                        ours("100 futures, per second", Spot.Kind.WAITERS, Crowds.FEW_WAITERS, Text::number),
                        ours("10,000 futures, per second", Spot.Kind.WAITERS, Crowds.MANY_WAITERS, Text::number),
                        ours("250 alone", Spot.Kind.DEAD, 0, SpotTables::seconds),
                        ours("250 behind 1,000 dead", Spot.Kind.DEAD, Crowds.DEAD, SpotTables::seconds)));
        table(
                "(j) history",
                "The median cycle of a free lock, first and after 20,000 cycles, on a server that nobody cleans up meanwhile.",
                List.of(
                        ours("Holdfast, first 1,000", Spot.Kind.HISTORY, History.FEW, Text::micros),
                        ours("Holdfast, last 1,000", Spot.Kind.HISTORY, History.MANY, Text::micros),
                        floor("floor, first 1,000", Spot.Kind.HISTORY, History.FEW),
                        floor("floor, last 1,000", Spot.Kind.HISTORY, History.MANY)));
        table(
                "(k) cold start, and (l) with 1 ms of network each way",
                "A whole process that takes and returns one lock: a small program with the library, `holdfast run NAME -- true`. Both"
                        + " JVMs and their connections are new. Beside them the median cycle of a client that is there, over the same"
                        + " network.",
                List.of(
                        ours("library", Spot.Kind.COLD_LIBRARY, 0, Text::micros),
                        ours("library, far", Spot.Kind.COLD_LIBRARY, far, Text::micros),
                        ours("command", Spot.Kind.COLD_COMMAND, 0, Text::micros),
                        ours("command, far", Spot.Kind.COLD_COMMAND, far, Text::micros),
                        ours("cycle, far", Spot.Kind.FAR, far, Text::micros),
                        floor("floor, far", Spot.Kind.FAR, far)));
        return text.toString();
    }

    private static Column ours(String title, Spot.Kind kind, long size, DoubleFunction<String> words) {
        return new Column(title, Arenas.DEFAULTS, kind, size, words);
    }

    private static Column floor(String title, Spot.Kind kind, long size) {
        return new Column(title, Arenas.FLOOR, kind, size, Text::micros);
    }

    private static String seconds(double value) {
        return Text.micros(value * 1e6);
    }

    private void table(String title, String explanation, List<Column> columns) {
        Set<String> stores = new LinkedHashSet<>();
        kept.spots().stream()
                .filter(entry -> columns.stream()
                        .anyMatch(column -> column.kind == entry.what().kind()))
                .forEach(entry -> stores.add(entry.what().store()));
        if (stores.isEmpty()) {
            return;
        }
        line("## " + title);
        line("");
        line(explanation);
        line("");
        line("| | " + String.join(" | ", columns.stream().map(Column::title).toList()) + " | part |");
        line("|---".repeat(columns.size() + 2) + "|");
        for (String store : stores) {
            List<String> cells = new ArrayList<>(List.of(store));
            Set<Part> parts = new LinkedHashSet<>();
            for (Column column : columns) {
                Optional<Kept.Entry<Spot>> spot = kept.spot(store, column.contender, column.kind, column.size);
                spot.ifPresent(found -> parts.add(found.part()));
                cells.add(spot.map(found -> column.words.apply(found.what().value()))
                        .orElse(Text.NONE));
            }
            line("| " + String.join(" | ", cells) + " | " + letters.of(parts) + " |");
        }
        line("");
    }

    private void line(String words) {
        text.append(words).append('\n');
    }
}
