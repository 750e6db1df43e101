package io.holdfast.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All that was measured.
 *
 * @param machine what the figures depend on
 */
public record Report(Map<String, String> machine, List<Measurement> measurements) {

    /** Among the facts of the machine if it had other things to do before the run. */
    public static final String BUSY = "busy";

    /** Changes when the fields of the file do. */
    private static final int FORMAT = 1;

    public boolean hasRefusals() {
        return measurements.stream()
                .anyMatch(measurement -> measurement.refused().isPresent());
    }

    /** For a file. */
    public String toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("format", FORMAT);
        json.put("machine", machine);
        json.put("runs", measurements.stream().map(Measurement::toJson).toList());
        return Json.pretty(json);
    }

    /** The inverse of {@link #toJson}. */
    public static Report fromJson(String text) {
        Map<String, Object> json = Json.read(text);
        Map<String, String> machine = new LinkedHashMap<>();
        ((Map<?, ?>) json.get("machine")).forEach((key, value) -> machine.put((String) key, (String) value));
        List<Measurement> runs = ((List<?>) json.get("runs"))
                .stream().map(Report::asObject).map(Measurement::fromJson).toList();
        return new Report(machine, runs);
    }

    @SuppressWarnings("unchecked") // Json makes no other maps.
    private static Map<String, Object> asObject(Object value) {
        return (Map<String, Object>) value;
    }
}
