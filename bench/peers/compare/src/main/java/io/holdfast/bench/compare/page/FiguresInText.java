package io.holdfast.bench.compare.page;

import io.holdfast.bench.Figure;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.compare.arena.Arenas;
import io.holdfast.bench.compare.kept.Kept;
import io.holdfast.bench.compare.kept.Part;
import io.holdfast.bench.report.Text;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Renews figures in a text written by hand, so that it says what was measured last: {@code <!--=Redis/strict/d/rate-->6,410<!--/-->}
 * between marks that readers do not see. Store, contender ({@code strict} and {@code default} are ours), scenario, and
 * {@code rate}, {@code wait} (the longest) or {@code cycle}; {@code <!--=commit-->} is the commit of the latest part. What was not
 * measured stays as it is.
 */
final class FiguresInText {

    private static final Pattern MARKED = Pattern.compile("(<!--=([^>]+?)-->)(.*?)(<!--/-->)");
    private static final Map<String, String> SHORT_NAMES =
            Map.of("strict", Arenas.FIFO, "default", Arenas.DEFAULTS, "floor", Arenas.FLOOR);

    private final Results results;
    private final Kept kept;

    FiguresInText(Results results, Kept kept) {
        this.results = results;
        this.kept = kept;
    }

    void renew(Path file) throws IOException {
        if (Files.exists(file)) {
            String before = Files.readString(file);
            String after = MARKED.matcher(before).replaceAll(this::renewed);
            if (!after.equals(before)) {
                Files.writeString(file, after);
            }
        }
    }

    private String renewed(MatchResult marked) {
        String text = figure(marked.group(2)).orElse(marked.group(3));
        return Matcher.quoteReplacement(marked.group(1) + text + marked.group(4));
    }

    private Optional<String> figure(String key) {
        if (key.equals("commit")) {
            return kept.parts().stream().findFirst().map(part -> "`" + part.fact(Part.COMMIT) + "`");
        }
        String[] words = key.split("/");
        if (words.length != 4) {
            throw new IllegalArgumentException("no figure is called '" + key + "'");
        }
        Scenario scenario = Scenario.parse(words[2]).iterator().next();
        return results.run(words[0], SHORT_NAMES.getOrDefault(words[1], words[1]), scenario)
                .flatMap(run -> text(run, words[3]));
    }

    private static Optional<String> text(Summary run, String figure) {
        OptionalDouble value = switch (figure) {
            case "rate" -> run.median(Figure.RATE);
            case "wait" -> run.worst(Figure.LONGEST_WAIT);
            case "cycle" -> run.median(Figure.CYCLE_P50);
            default -> throw new IllegalArgumentException("there is no figure '" + figure + "'");
        };
        return value.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        figure.equals("rate") ? Text.number(value.getAsDouble()) : Text.micros(value.getAsDouble()));
    }
}
