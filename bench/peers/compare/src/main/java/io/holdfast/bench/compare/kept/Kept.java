package io.holdfast.bench.compare.kept;

import io.holdfast.bench.Json;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.compare.spot.Spot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * All that was measured, each with the part in which it was, in one file. What is measured again replaces what was there, the
 * rest stays: a comparison can be made in parts and on several days. Not thread-safe.
 */
public final class Kept {

    private static final int FORMAT = 2;

    private final Path file;
    private final Map<String, Part> parts = new LinkedHashMap<>();
    private final List<Entry<Measurement>> runs = new ArrayList<>();
    private final List<Entry<Spot>> spots = new ArrayList<>();

    /** Something measured, and in which part. */
    public record Entry<T>(T what, Part part) {}

    private Kept(Path file) {
        this.file = file;
    }

    public static Kept read(Path file) throws IOException {
        Kept kept = new Kept(file);
        if (Files.exists(file)) {
            Map<String, Object> json = Json.read(Files.readString(file));
            object(json.get("parts")).forEach((id, facts) -> kept.parts.put(id, new Part(id, texts(facts))));
            objects(json.get("runs")).forEach(run -> kept.runs.add(kept.entry(run, Measurement.fromJson(run))));
            objects(json.get("spots")).forEach(spot -> kept.spots.add(kept.entry(spot, Spot.fromJson(spot))));
        }
        return kept;
    }

    public List<Entry<Measurement>> runs() {
        return runs;
    }

    public List<Entry<Spot>> spots() {
        return spots;
    }

    /** The latest first. */
    public List<Part> parts() {
        return parts.values().stream()
                .sorted((one, other) -> other.fact(Part.STARTED).compareTo(one.fact(Part.STARTED)))
                .toList();
    }

    public Optional<Entry<Spot>> spot(String store, String contender, Spot.Kind kind, long size) {
        String key = new Spot(store, contender, kind, size, 0).key();
        return spots.stream().filter(entry -> entry.what().key().equals(key)).findFirst();
    }

    /** Whether this was measured on this commit. */
    public boolean has(String keyOfRun, String commit) {
        return runs.stream()
                .anyMatch(entry -> entry.what().key().equals(keyOfRun)
                        && entry.part().fact(Part.COMMIT).equals(commit));
    }

    public boolean hasSpots(String store, char letter, String commit) {
        return spots.stream()
                .anyMatch(entry -> entry.what().store().equals(store)
                        && entry.what().kind().letter() == letter
                        && entry.part().fact(Part.COMMIT).equals(commit));
    }

    /** Replaces what was there of other parts by what a part has so far, and writes everything down. */
    public void put(Part part, List<Measurement> newRuns, List<Spot> newSpots) throws IOException {
        replace(runs, part, newRuns, Measurement::key);
        replace(spots, part, newSpots, Spot::key);
        parts.put(part.id(), part);
        Set<Part> used = new LinkedHashSet<>();
        runs.forEach(entry -> used.add(entry.part()));
        spots.forEach(entry -> used.add(entry.part()));
        parts.values().retainAll(used);
        Path parent = file.toAbsolutePath().getParent();
        if (parent != null) {
            Files.createDirectories(parent);
        }
        Files.writeString(file, toJson() + "\n");
    }

    private static <T> void replace(List<Entry<T>> all, Part part, List<T> fresh, Function<T, String> key) {
        Set<String> repeated = fresh.stream().map(key).collect(Collectors.toSet());
        all.removeIf(old -> repeated.contains(key.apply(old.what())));
        fresh.forEach(one -> all.add(new Entry<>(one, part)));
    }

    private String toJson() {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("format", FORMAT);
        Map<String, Object> conditions = new LinkedHashMap<>();
        parts.forEach((id, part) -> conditions.put(id, part.facts()));
        json.put("parts", conditions);
        json.put("runs", runs.stream().map(Kept::run).toList());
        json.put("spots", spots.stream().map(Kept::spot).toList());
        return Json.pretty(json);
    }

    /** Without what the page does not show. */
    private static Map<String, Object> run(Entry<Measurement> entry) {
        Map<String, Object> json = entry.what().toJson();
        json.remove("series");
        json.remove("distribution");
        json.put("part", entry.part().id());
        return json;
    }

    private static Map<String, Object> spot(Entry<Spot> entry) {
        Map<String, Object> json = entry.what().toJson();
        json.put("part", entry.part().id());
        return json;
    }

    private <T> Entry<T> entry(Map<String, Object> json, T what) {
        return new Entry<>(what, parts.get((String) json.get("part")));
    }

    private static Map<String, String> texts(Object json) {
        Map<String, String> texts = new LinkedHashMap<>();
        object(json).forEach((name, value) -> texts.put(name, String.valueOf(value)));
        return texts;
    }

    private static List<Map<String, Object>> objects(Object json) {
        return ((List<?>) json).stream().map(Kept::object).toList();
    }

    @SuppressWarnings("unchecked") // Json makes no other maps.
    private static Map<String, Object> object(Object json) {
        return (Map<String, Object>) json;
    }
}
