package io.holdfast.torture.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.io.SerializedString;
import io.holdfast.torture.cell.CellResult;
import io.holdfast.torture.check.Finding;
import io.holdfast.torture.check.Promise;
import io.holdfast.torture.check.Violation;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.nemesis.PlannedFault;
import java.io.IOException;
import java.io.InputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * One page that needs nothing else: per cell the verdict, a time line of who held when with the faults as bands, and every
 * violation with the operations around it. Thread-safe.
 */
public final class HtmlReport {

    private static final JsonFactory FACTORY = new JsonFactory();
    private static final String PLACEHOLDER = "/*DATA*/";
    private static final long AROUND_NANOS = 300_000_000;
    private static final int MOST_AROUND = 60;
    private static final int MOST_VIOLATIONS = 12;

    /** Rendered when judged: histories of a whole matrix would not fit into memory. */
    private final Map<String, String> cells = new ConcurrentSkipListMap<>();

    public void add(CellResult result, CellSummary summary) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(text)) {
            cell(json, result, summary);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        cells.put(result.cell().name(), text.toString());
    }

    /** @param headline what came of everything, for the top of the page */
    public void write(Path file, Headline headline) throws IOException {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(text)) {
            json.writeStartObject();
            json.writeStringField("verdict", headline.words());
            json.writeStringField("outcome", headline.outcome().name().toLowerCase(Locale.ROOT));
            json.writeStringField("about", cells.size() + (cells.size() == 1 ? " cell" : " cells"));
            json.writeArrayFieldStart("cells");
            for (String cell : cells.values()) {
                json.writeRawValue(new SerializedString(cell));
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        // Inside a script element the one thing that ends it must not appear.
        Files.writeString(file, template().replace(PLACEHOLDER, text.toString().replace("</", "<\\/")));
    }

    private static String template() throws IOException {
        try (InputStream page = HtmlReport.class.getResourceAsStream("report.html")) {
            return new String(Objects.requireNonNull(page, "report.html").readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static void cell(JsonGenerator json, CellResult result, CellSummary summary) throws IOException {
        Timeline timeline = Timeline.of(result.history());
        json.writeStartObject();
        json.writeStringField("store", summary.store());
        json.writeStringField("title", summary.title());
        json.writeStringField("about", about(result, summary));
        json.writeStringField("seed", Long.toString(summary.seed()));
        json.writeNumberField("length", (timeline.endNanos() - timeline.startNanos()) / 1_000_000);
        strings(json, "troubles", summary.troubles());
        strings(
                json,
                "schedule",
                result.schedule().faults().stream().map(PlannedFault::toString).toList());
        promises(json, summary);
        faults(json, timeline);
        locks(json, timeline);
        json.writeArrayFieldStart("violations");
        for (Violation violation : violations(result)) {
            violation(json, violation, result, timeline.startNanos());
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static String about(CellResult result, CellSummary summary) {
        return String.format(
                Locale.ROOT,
                "%d workers, ttl %.1f s, %d faults, %d leases, %d operations; updates lost: %.1f %% without fencing (%d of"
                        + " %d), %d of %d with",
                result.cell().workers(),
                result.cell().ttl().toMillis() / 1000.0,
                summary.faults(),
                summary.grants(),
                summary.operations(),
                100 * summary.unchecked().lostShare(),
                summary.unchecked().lost(),
                summary.unchecked().acknowledged(),
                summary.checked().lost(),
                summary.checked().acknowledged());
    }

    private static void promises(JsonGenerator json, CellSummary summary) throws IOException {
        json.writeArrayFieldStart("promises");
        for (Promise promise : Promise.values()) {
            json.writeStartObject();
            json.writeStringField("name", promise.name().toLowerCase(Locale.ROOT));
            json.writeStringField("sentence", promise.sentence());
            Standing standing = summary.standing(promise);
            json.writeStringField("standing", standing.words());
            if (standing == Standing.DOCUMENTED_LIMIT) {
                Optional<DocumentedLimits.Limit> limit = DocumentedLimits.of(summary.store(), summary.title(), promise);
                json.writeStringField(
                        "limit", limit.map(DocumentedLimits.Limit::words).orElse(""));
            }
            json.writeNumberField("tested", summary.of(promise).tested());
            json.writeNumberField("violations", summary.of(promise).violations());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void faults(JsonGenerator json, Timeline timeline) throws IOException {
        json.writeArrayFieldStart("faults");
        for (Timeline.Band band : timeline.bands()) {
            json.writeStartObject();
            millis(json, "from", band.fromNanos(), timeline.startNanos());
            millis(json, "to", band.toNanos(), timeline.startNanos());
            json.writeStringField("name", band.name());
            json.writeStringField("target", band.target());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void locks(JsonGenerator json, Timeline timeline) throws IOException {
        json.writeArrayFieldStart("locks");
        for (Map.Entry<String, Map<String, Timeline.Row>> lock : timeline.rows().entrySet()) {
            json.writeStartObject();
            json.writeStringField("name", shortName(lock.getKey()));
            json.writeArrayFieldStart("rows");
            for (Map.Entry<String, Timeline.Row> row : lock.getValue().entrySet()) {
                json.writeStartObject();
                json.writeStringField("process", row.getKey());
                bars(json, "waits", row.getValue().waits(), timeline.startNanos());
                bars(json, "holds", row.getValue().holds(), timeline.startNanos());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void bars(JsonGenerator json, String field, List<Timeline.Bar> bars, long startNanos)
            throws IOException {
        json.writeArrayFieldStart(field);
        for (Timeline.Bar bar : bars) {
            json.writeStartObject();
            millis(json, "from", bar.fromNanos(), startNanos);
            millis(json, "to", bar.toNanos(), startNanos);
            if (!bar.kind().isEmpty()) {
                json.writeStringField("kind", bar.kind());
                json.writeStringField("token", Long.toString(bar.token()));
            }
            json.writeStringField("how", bar.how());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static List<Violation> violations(CellResult result) {
        List<Violation> all = new ArrayList<>();
        for (Finding finding : result.verdict().findings().values()) {
            all.addAll(finding.examples());
        }
        return all.subList(0, Math.min(all.size(), MOST_VIOLATIONS));
    }

    private static void violation(JsonGenerator json, Violation violation, CellResult result, long startNanos)
            throws IOException {
        json.writeStartObject();
        json.writeStringField("promise", violation.promise().name().toLowerCase(Locale.ROOT));
        json.writeStringField("what", violation.what());
        json.writeBooleanField(
                "limited",
                DocumentedLimits.of(result.cell().store(), result.cell().title(), violation.promise())
                        .isPresent());
        json.writeArrayFieldStart("events");
        for (Event event : around(violation, result.history())) {
            json.writeStartObject();
            millis(json, "at", event.nanos(), startNanos);
            json.writeStringField("process", event.process());
            json.writeStringField("lock", event.lock() == null ? "" : shortName(event.lock()));
            json.writeStringField("what", EventText.of(event, startNanos));
            json.writeBooleanField("proof", violation.operations().contains(event));
            json.writeEndObject();
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    /** The events that prove it, and what happened to the same lock, or to everything, just before and after each. */
    private static List<Event> around(Violation violation, List<Event> history) {
        List<Event> proof = violation.operations();
        List<Event> near = new ArrayList<>(proof);
        for (Event event : history) {
            boolean related = event.lock() == null || event.lock().equals(violation.lock());
            if (related
                    && near.size() < MOST_AROUND
                    && !proof.contains(event)
                    && proof.stream().anyMatch(one -> Math.abs(one.nanos() - event.nanos()) < AROUND_NANOS)) {
                near.add(event);
            }
        }
        near.sort((a, b) -> Long.compare(a.nanos(), b.nanos()));
        return near;
    }

    private static void strings(JsonGenerator json, String field, List<String> values) throws IOException {
        json.writeArrayFieldStart(field);
        for (String value : values) {
            json.writeString(value);
        }
        json.writeEndArray();
    }

    private static void millis(JsonGenerator json, String field, long nanos, long startNanos) throws IOException {
        json.writeNumberField(field, (nanos - startNanos) / 100_000 / 10.0);
    }

    /** Without the prefix that keeps runs apart. */
    private static String shortName(String lock) {
        return lock.substring(lock.lastIndexOf('-') + 1);
    }
}
