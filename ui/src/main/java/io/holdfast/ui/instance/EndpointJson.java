package io.holdfast.ui.instance;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads what the endpoint {@code holdfast} of an application tells. */
final class EndpointJson {

    private static final JsonFactory FACTORY = new JsonFactory();

    private EndpointJson() {}

    /** @throws IOException if it is something else */
    static List<ClientCounts> read(byte[] body) throws IOException {
        List<ClientCounts> clients = new ArrayList<>();
        try (JsonParser parser = FACTORY.createParser(body)) {
            require(parser.nextToken() == JsonToken.START_OBJECT);
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String bean = parser.currentName();
                require(parser.nextToken() == JsonToken.START_OBJECT);
                clients.add(client(bean, parser));
            }
        }
        return clients;
    }

    private static ClientCounts client(String bean, JsonParser parser) throws IOException {
        String name = bean;
        String store = "";
        long held = 0;
        long waiting = 0;
        Map<String, Double> counts = Map.of();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (field) {
                case "name" -> name = parser.getText();
                case "store" -> store = parser.getText();
                case "held" -> held = elements(parser);
                case "waiting" -> waiting = elements(parser);
                case "counts" -> {
                    require(value == JsonToken.START_OBJECT);
                    counts = numbers(parser);
                }
                default -> parser.skipChildren();
            }
        }
        require(counts.containsKey("acquired"));
        return new ClientCounts(
                bean,
                name,
                store,
                held,
                waiting,
                counts.get("acquired").longValue(),
                counts.getOrDefault("unsuccessful", 0.0).longValue(),
                counts.getOrDefault("lost", 0.0).longValue(),
                Optional.ofNullable(counts.get("waitP99Millis")),
                Optional.ofNullable(counts.get("holdP99Millis")));
    }

    private static long elements(JsonParser parser) throws IOException {
        require(parser.currentToken() == JsonToken.START_ARRAY);
        long elements = 0;
        while (parser.nextToken() != JsonToken.END_ARRAY) {
            require(parser.currentToken() != null);
            parser.skipChildren();
            elements++;
        }
        return elements;
    }

    private static Map<String, Double> numbers(JsonParser parser) throws IOException {
        Map<String, Double> numbers = new HashMap<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String field = parser.currentName();
            if (parser.nextToken().isNumeric()) {
                numbers.put(field, parser.getDoubleValue());
            }
        }
        return numbers;
    }

    private static void require(boolean asExpected) throws IOException {
        if (!asExpected) {
            throw new IOException("it answers, but not as the endpoint 'holdfast' of a Holdfast starter does");
        }
    }
}
