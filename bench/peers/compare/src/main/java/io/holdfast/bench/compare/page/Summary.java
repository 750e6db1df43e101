package io.holdfast.bench.compare.page;

import io.holdfast.bench.ContenderSpec.Kind;
import io.holdfast.bench.Figure;
import io.holdfast.bench.Load;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Scenario;
import io.holdfast.bench.compare.kept.Kept;
import io.holdfast.bench.compare.kept.Part;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/** All rounds of one run: medians, and how far the rounds lie apart. Immutable. */
final class Summary {

    private final List<Measurement> rounds;
    private final Part part;

    private Summary(List<Kept.Entry<Measurement>> rounds) {
        this.rounds = rounds.stream().map(Kept.Entry::what).toList();
        this.part = rounds.get(0).part();
    }

    static List<Summary> of(List<Kept.Entry<Measurement>> runs) {
        Map<String, List<Kept.Entry<Measurement>>> byRun = new LinkedHashMap<>();
        runs.forEach(run -> byRun.computeIfAbsent(run.what().key(), key -> new ArrayList<>())
                .add(run));
        return byRun.values().stream().map(Summary::new).toList();
    }

    /** In which all its rounds were measured. */
    Part part() {
        return part;
    }

    int rounds() {
        return rounds.size();
    }

    String store() {
        return rounds.get(0).store();
    }

    String contender() {
        return rounds.get(0).contender();
    }

    Kind kind() {
        return rounds.get(0).kind();
    }

    Scenario scenario() {
        return rounds.get(0).scenario();
    }

    Load load() {
        return rounds.get(0).load();
    }

    /** The reason of the first round without a result. */
    Optional<String> refused() {
        return rounds.stream().flatMap(round -> round.refused().stream()).findFirst();
    }

    OptionalDouble median(Figure figure) {
        double[] values = sorted(figure);
        if (values.length == 0) {
            return OptionalDouble.empty();
        }
        int middle = values.length / 2;
        return OptionalDouble.of(values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2);
    }

    OptionalDouble worst(Figure figure) {
        return Arrays.stream(sorted(figure)).max();
    }

    /** Half the distance between the best and the worst round, as a share of the median. */
    OptionalDouble spread(Figure figure) {
        double[] values = sorted(figure);
        OptionalDouble median = median(figure);
        return values.length < 2 || median.getAsDouble() == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of((values[values.length - 1] - values[0]) / 2 / median.getAsDouble());
    }

    /** The median of how many times more the luckiest thread got than the unluckiest; infinite if one got nothing. */
    OptionalDouble unfairness() {
        double[] ratios = rounds.stream()
                .filter(round -> round.figure(Figure.MOST_PER_THREAD).isPresent())
                .mapToDouble(round -> round.figure(Figure.MOST_PER_THREAD).orElseThrow()
                        / round.figure(Figure.LEAST_PER_THREAD).orElseThrow())
                .sorted()
                .toArray();
        return ratios.length == 0 ? OptionalDouble.empty() : OptionalDouble.of(ratios[ratios.length / 2]);
    }

    private double[] sorted(Figure figure) {
        return rounds.stream()
                .flatMapToDouble(round -> round.figure(figure).stream())
                .sorted()
                .toArray();
    }
}
