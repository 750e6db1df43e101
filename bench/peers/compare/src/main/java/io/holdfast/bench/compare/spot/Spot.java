package io.holdfast.bench.compare.spot;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One figure that was measured once, by other means than a load.
 *
 * @param size how many were there, or how often it had been done
 * @param value in the unit of its kind
 */
public record Spot(String store, String contender, Kind kind, long size, double value) {

    /** What was measured. */
    public enum Kind {
        /** Microseconds of a reader's cycle beside so many who read. */
        READERS('i'),
        /** Served per second, of so many who wait as futures. */
        WAITERS('i'),
        /** Seconds until 250 are served behind so many dead ones, from when these died. */
        DEAD('i'),
        /** Microseconds of a cycle after so many of them. */
        HISTORY('j'),
        /** Microseconds from the start of a JVM until it has a lock, so many microseconds of network away. */
        COLD_LIBRARY('k'),
        /** The same of a whole {@code holdfast run}. */
        COLD_COMMAND('k'),
        /** Microseconds of a cycle, so many microseconds of network away. */
        FAR('l');

        private final char letter;

        Kind(char letter) {
            this.letter = letter;
        }

        public char letter() {
            return letter;
        }
    }

    public String key() {
        return store + "|" + contender + "|" + kind + "|" + size;
    }

    public Map<String, Object> toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("store", store);
        json.put("contender", contender);
        json.put("kind", kind.name().toLowerCase(Locale.ROOT));
        json.put("size", size);
        json.put("value", value);
        return json;
    }

    public static Spot fromJson(Map<String, Object> json) {
        return new Spot(
                (String) json.get("store"),
                (String) json.get("contender"),
                Kind.valueOf(((String) json.get("kind")).toUpperCase(Locale.ROOT)),
                ((Number) json.get("size")).longValue(),
                ((Number) json.get("value")).doubleValue());
    }
}
