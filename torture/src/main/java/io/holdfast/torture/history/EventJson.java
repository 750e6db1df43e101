package io.holdfast.torture.history;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.holdfast.Demand;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** An event as a line of JSON and back. Parts that are not there are left out. */
final class EventJson {

    private static final JsonFactory FACTORY = new JsonFactory();

    private EventJson() {}

    /** One line with its line end. */
    static byte[] line(Event event) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
        try (JsonGenerator json = FACTORY.createGenerator(bytes)) {
            json.writeStartObject();
            json.writeNumberField("nanos", event.nanos());
            json.writeStringField("process", event.process());
            json.writeStringField("op", lower(event.operation()));
            json.writeStringField("phase", lower(event.phase()));
            text(json, "lock", event.lock());
            text(json, "acquisition", event.acquisition());
            text(json, "owner", event.owner());
            demand(json, event.demand());
            number(json, "token", event.token());
            number(json, "sent", event.sentNanos());
            number(json, "ttl", event.ttlNanos());
            number(json, "until", event.untilNanos());
            text(json, "guard", event.guard() == null ? null : lower(event.guard()));
            text(json, "value", event.value());
            text(json, "previous", event.previous());
            text(json, "detail", event.detail());
            json.writeEndObject();
            json.writeRaw('\n');
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /** @throws IOException if the line is not a whole event */
    static Event parse(String line) throws IOException {
        Map<String, String> fields = fields(line);
        try {
            Event.Builder event = Event.at(
                    Long.parseLong(required(fields, "nanos")),
                    required(fields, "process"),
                    constant(Operation.class, required(fields, "op")),
                    constant(Phase.class, required(fields, "phase")));
            text(fields, "lock", event::lock);
            text(fields, "acquisition", event::acquisition);
            text(fields, "owner", event::owner);
            text(fields, "kind", kind -> event.demand(demand(kind, fields)));
            number(fields, "token", event::token);
            number(fields, "sent", sent -> event.sent(sent, Long.parseLong(fields.getOrDefault("ttl", "0"))));
            number(fields, "until", event::until);
            text(fields, "guard", guard -> event.guard(constant(Guard.class, guard)));
            text(fields, "value", event::value);
            text(fields, "previous", event::previous);
            text(fields, "detail", event::detail);
            return event.build();
        } catch (IllegalArgumentException e) {
            throw new IOException("not an event: " + line, e);
        }
    }

    private static Map<String, String> fields(String line) throws IOException {
        Map<String, String> fields = new HashMap<>();
        try (JsonParser json = FACTORY.createParser(line)) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("not an event: " + line);
            }
            while (json.nextToken() == JsonToken.FIELD_NAME) {
                String field = json.currentName();
                json.nextToken();
                fields.put(field, json.getText());
            }
            if (json.currentToken() != JsonToken.END_OBJECT) {
                throw new IOException("not an event: " + line);
            }
        }
        return fields;
    }

    private static Demand demand(String kind, Map<String, String> fields) {
        return switch (kind) {
            case "exclusive" -> Demand.exclusive();
            case "shared" -> Demand.shared();
            case "permits" ->
                Demand.permits(
                        Integer.parseInt(fields.getOrDefault("permits", "")),
                        Integer.parseInt(fields.getOrDefault("total", "")));
            default -> throw new IllegalArgumentException("unknown kind " + kind);
        };
    }

    private static void demand(JsonGenerator json, @Nullable Demand demand) throws IOException {
        if (demand instanceof Demand.Permits permits) {
            json.writeStringField("kind", "permits");
            json.writeNumberField("permits", permits.count());
            json.writeNumberField("total", permits.total());
        } else if (demand != null) {
            json.writeStringField("kind", demand instanceof Demand.Shared ? "shared" : "exclusive");
        }
    }

    private static void text(JsonGenerator json, String field, @Nullable String value) throws IOException {
        if (value != null) {
            json.writeStringField(field, value);
        }
    }

    private static void number(JsonGenerator json, String field, @Nullable Long value) throws IOException {
        if (value != null) {
            json.writeNumberField(field, value);
        }
    }

    private static void text(Map<String, String> fields, String field, Consumer<String> to) {
        String value = fields.get(field);
        if (value != null) {
            to.accept(value);
        }
    }

    private static void number(Map<String, String> fields, String field, LongConsumer to) {
        text(fields, field, value -> to.accept(Long.parseLong(value)));
    }

    private static String required(Map<String, String> fields, String field) throws IOException {
        String value = fields.get(field);
        if (value == null) {
            throw new IOException("an event without '" + field + "'");
        }
        return value;
    }

    private static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static <E extends Enum<E>> E constant(Class<E> type, String text) {
        return Enum.valueOf(type, text.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
