package io.holdfast.bench.compare.page;

import io.holdfast.bench.compare.kept.Part;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** A letter for every part: A is the latest. Immutable. */
record PartLetters(List<Part> parts) {

    String of(Part part) {
        int index = parts.indexOf(part);
        return index < 26 ? String.valueOf((char) ('A' + index)) : "A" + (char) ('A' + index - 26);
    }

    String of(Collection<Part> several) {
        return several.stream().map(this::of).sorted().distinct().collect(Collectors.joining(", "));
    }
}
