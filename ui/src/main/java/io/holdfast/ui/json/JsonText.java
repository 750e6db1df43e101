package io.holdfast.ui.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** Writes one JSON value on one line. Fields that are not there are left out. Not thread-safe. */
public final class JsonText {

    private static final JsonFactory FACTORY = new JsonFactory();

    private final JsonGenerator generator;

    private JsonText(JsonGenerator generator) {
        this.generator = generator;
    }

    public static String object(Consumer<JsonText> fields) {
        return text(json -> json.writeObject(fields));
    }

    public static <T> String array(List<T> elements, BiConsumer<JsonText, T> fields) {
        return text(json -> json.writeArray(elements, fields));
    }

    private static String text(Consumer<JsonText> value) {
        StringWriter writer = new StringWriter();
        try (JsonGenerator generator = FACTORY.createGenerator(writer)) {
            value.accept(new JsonText(generator));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return writer.toString();
    }

    public JsonText text(String field, String value) {
        return write(() -> generator.writeStringField(field, value));
    }

    public JsonText number(String field, long value) {
        return write(() -> generator.writeNumberField(field, value));
    }

    public JsonText decimal(String field, double value) {
        return write(() -> generator.writeNumberField(field, Math.round(value * 1000) / 1000.0));
    }

    public JsonText flag(String field, boolean value) {
        return write(() -> generator.writeBooleanField(field, value));
    }

    /** Text, because a token has up to 63 bits and many readers keep only 53 of a number. */
    public JsonText token(long value) {
        return text("token", Long.toString(value));
    }

    public JsonText millis(String field, Duration value) {
        return number(field, value.toMillis());
    }

    public JsonText millis(String field, Optional<Duration> value) {
        value.ifPresent(present -> millis(field, present));
        return this;
    }

    public JsonText instant(String field, Optional<Instant> value) {
        value.ifPresent(present -> text(field, present.toString()));
        return this;
    }

    public <T> JsonText list(String field, List<T> elements, BiConsumer<JsonText, T> fields) {
        write(() -> generator.writeFieldName(field));
        writeArray(elements, fields);
        return this;
    }

    public JsonText object(String field, Consumer<JsonText> fields) {
        write(() -> generator.writeFieldName(field));
        writeObject(fields);
        return this;
    }

    public JsonText texts(String field, List<String> values) {
        write(() -> generator.writeArrayFieldStart(field));
        values.forEach(value -> write(() -> generator.writeString(value)));
        return write(generator::writeEndArray);
    }

    public JsonText millis(String field, List<Duration> values) {
        write(() -> generator.writeArrayFieldStart(field));
        values.forEach(value -> write(() -> generator.writeNumber(value.toMillis())));
        return write(generator::writeEndArray);
    }

    private <T> void writeArray(List<T> elements, BiConsumer<JsonText, T> fields) {
        write(generator::writeStartArray);
        elements.forEach(element -> writeObject(json -> fields.accept(json, element)));
        write(generator::writeEndArray);
    }

    private void writeObject(Consumer<JsonText> fields) {
        write(generator::writeStartObject);
        fields.accept(this);
        write(generator::writeEndObject);
    }

    private JsonText write(Step step) {
        try {
            step.run();
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private interface Step {
        void run() throws IOException;
    }
}
