package io.holdfast.ui.http;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The parameters of a request. Immutable. */
public final class Query {

    private final Map<String, String> parameters = new HashMap<>();

    private Query() {}

    public static Query of(@Nullable String rawQuery) throws Refusal {
        Query query = new Query();
        if (rawQuery == null) {
            return query;
        }
        try {
            for (String pair : rawQuery.split("&")) {
                int equals = pair.indexOf('=');
                if (equals > 0) {
                    query.parameters.put(decode(pair.substring(0, equals)), decode(pair.substring(equals + 1)));
                }
            }
            return query;
        } catch (IllegalArgumentException e) {
            throw Refusal.usage("the address is not well formed");
        }
    }

    private static String decode(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    public Optional<String> text(String name) {
        return Optional.ofNullable(parameters.get(name));
    }

    public String required(String name) throws Refusal {
        String value = parameters.get(name);
        if (value == null || value.isEmpty()) {
            throw Refusal.usage("parameter '" + name + "' is missing");
        }
        return value;
    }

    public int number(String name, int standard, int least, int most) throws Refusal {
        String value = parameters.get(name);
        try {
            int number = value == null ? standard : Integer.parseInt(value);
            if (number >= least && number <= most) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below, in one place.
        }
        throw Refusal.usage("parameter '" + name + "' must be a number from " + least + " to " + most);
    }
}
