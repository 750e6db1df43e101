package io.holdfast.torture.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.holdfast.torture.check.Counts;
import io.holdfast.torture.check.Finding.Outcome;
import io.holdfast.torture.check.Promise;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A summary as JSON and back, so that a matrix can be run in parts. */
final class SummaryJson {

    private static final JsonFactory FACTORY = new JsonFactory();

    private SummaryJson() {}

    static String text(CellSummary summary) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = FACTORY.createGenerator(text)) {
            write(json, summary);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void write(JsonGenerator json, CellSummary summary) throws IOException {
        json.writeStartObject();
        json.writeStringField("store", summary.store());
        json.writeStringField("fault", summary.title());
        json.writeNumberField("seconds", summary.seconds());
        json.writeStringField("seed", Long.toString(summary.seed()));
        json.writeStringField("commit", summary.commit());
        if (!summary.wasRun()) {
            json.writeStringField("notRun", summary.notRun());
        }
        json.writeNumberField("operations", summary.operations());
        json.writeNumberField("grants", summary.grants());
        json.writeNumberField("faults", summary.faults());
        writes(json, "checked", summary.checked());
        writes(json, "unchecked", summary.unchecked());
        json.writeObjectFieldStart("promises");
        for (Promise promise : Promise.values()) {
            if (summary.promises().containsKey(promise)) {
                CellSummary.Found found = summary.of(promise);
                json.writeObjectFieldStart(promise.name().toLowerCase(Locale.ROOT));
                json.writeStringField("outcome", found.outcome().name().toLowerCase(Locale.ROOT));
                json.writeStringField("standing", summary.standing(promise).words());
                json.writeNumberField("tested", found.tested());
                json.writeNumberField("violations", found.violations());
                json.writeStringField("example", found.example());
                json.writeEndObject();
            }
        }
        json.writeEndObject();
        json.writeArrayFieldStart("troubles");
        for (String trouble : summary.troubles()) {
            json.writeString(trouble);
        }
        json.writeEndArray();
        json.writeEndObject();
    }

    private static void writes(JsonGenerator json, String field, Counts.Writes writes) throws IOException {
        json.writeObjectFieldStart(field);
        json.writeNumberField("acknowledged", writes.acknowledged());
        json.writeNumberField("lost", writes.lost());
        json.writeNumberField("refused", writes.refused());
        json.writeEndObject();
    }

    static CellSummary parse(String text) throws IOException {
        Map<String, String> values = new HashMap<>();
        List<String> troubles = new ArrayList<>();
        try (JsonParser json = FACTORY.createParser(text)) {
            json.nextToken();
            flatten(json, "", values, troubles);
        }
        Map<Promise, CellSummary.Found> promises = new EnumMap<>(Promise.class);
        for (Promise promise : Promise.values()) {
            String path = "promises." + promise.name().toLowerCase(Locale.ROOT) + ".";
            if (values.containsKey(path + "outcome")) {
                promises.put(
                        promise,
                        new CellSummary.Found(
                                Outcome.valueOf(values.get(path + "outcome").toUpperCase(Locale.ROOT)),
                                number(values, path + "tested"),
                                number(values, path + "violations"),
                                values.getOrDefault(path + "example", "")));
            }
        }
        return new CellSummary(
                values.getOrDefault("store", ""),
                values.getOrDefault("fault", ""),
                number(values, "seconds"),
                number(values, "seed"),
                values.getOrDefault("notRun", ""),
                promises,
                number(values, "operations"),
                number(values, "grants"),
                number(values, "faults"),
                writes(values, "checked."),
                writes(values, "unchecked."),
                troubles,
                values.getOrDefault("commit", ""));
    }

    private static Counts.Writes writes(Map<String, String> values, String path) {
        return new Counts.Writes(
                number(values, path + "acknowledged"), number(values, path + "lost"), number(values, path + "refused"));
    }

    private static long number(Map<String, String> values, String path) {
        return Long.parseLong(values.getOrDefault(path, "0"));
    }

    /** Reads the value the parser stands at: {@code a.b.c} to text, and the one list there is. */
    private static void flatten(JsonParser json, String path, Map<String, String> values, List<String> troubles)
            throws IOException {
        JsonToken token = json.currentToken();
        if (token == JsonToken.START_OBJECT) {
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String field = json.currentName();
                json.nextToken();
                flatten(json, path.isEmpty() ? field : path + "." + field, values, troubles);
            }
        } else if (token == JsonToken.START_ARRAY) {
            while (json.nextToken() != JsonToken.END_ARRAY) {
                troubles.add(json.getText());
            }
        } else {
            values.put(path, json.getText());
        }
    }
}
