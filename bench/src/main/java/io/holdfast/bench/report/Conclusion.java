package io.holdfast.bench.report;

import io.holdfast.bench.Figure;
import io.holdfast.bench.Measurement;
import io.holdfast.bench.Report;
import io.holdfast.bench.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/** What the figures of one store say, in words. */
final class Conclusion {

    private static final String QUEUED = "queued";
    private static final String POLLING = "polling";

    /** The most telling first: many processes, then many threads. */
    private static final List<Scenario> TELLING =
            List.of(Scenario.PROCESSES, Scenario.CROWD, Scenario.FEW, Scenario.NETWORK, Scenario.SECTION);

    private static final double ABOUT_THE_SAME = 1.15;

    private Conclusion() {}

    /** Sentences; none if queued and polling were not both measured. */
    static List<String> of(Report report, String store) {
        for (Scenario scenario : TELLING) {
            Optional<Measurement> queued = run(report, store, scenario, QUEUED);
            Optional<Measurement> polling = run(report, store, scenario, POLLING);
            if (queued.isPresent() && polling.isPresent()) {
                List<String> sentences = of(queued.get(), polling.get());
                String busy = report.machine().get(Report.BUSY);
                if (busy != null) {
                    sentences.add(
                            0, "Measure again when less else runs (" + busy + "): these figures say more about that.");
                }
                return sentences;
            }
        }
        return List.of();
    }

    private static List<String> of(Measurement queued, Measurement polling) {
        List<String> sentences = new ArrayList<>();
        double rate = value(queued, Figure.RATE) / value(polling, Figure.RATE);
        sentences.add(
                "On this store, here, with " + queued.scenario().title() + " on one lock: waiting in the queue gets it "
                        + Text.number(value(queued, Figure.RATE)) + " times a second, polling "
                        + Text.number(value(polling, Figure.RATE)) + " times (" + times(rate) + ").");
        sentences.add(
                "One wait in a hundred is longer than " + Text.micros(value(queued, Figure.P99)) + " in the queue and "
                        + Text.micros(value(polling, Figure.P99)) + " polling; the longest took "
                        + Text.micros(value(queued, Figure.LONGEST_WAIT)) + " and "
                        + Text.micros(value(polling, Figure.LONGEST_WAIT)) + ".");
        sentences.add(starving(queued, polling));
        if (rate < 1 / ABOUT_THE_SAME && starved(polling).isPresent()) {
            sentences.add("The rate of polling is that of those who kept the lock from the others.");
        }
        if (queued.load().threads() > queued.load().jvms() && rate > 3) {
            sentences.add(
                    "Most of the rate of the queue is local handoff: threads of one process pass the lock on among"
                            + " themselves, up to 64 times or 20 ms. Add --waiting fifo for what the store does alone.");
        }
        return sentences;
    }

    private static String times(double ratio) {
        if (ratio < ABOUT_THE_SAME && ratio > 1 / ABOUT_THE_SAME) {
            return "about the same";
        }
        return ratio > 1
                ? "the queue is " + Text.number(ratio) + " × polling"
                : "polling is " + Text.number(1 / ratio) + " × the queue";
    }

    private static String starving(Measurement queued, Measurement polling) {
        String inQueue =
                starved(queued).map(who -> "The queue starved " + who + ".").orElse("");
        String atPolling = starved(polling)
                .map(who -> "Polling starved " + who + ": they never got the lock.")
                .orElse("");
        if (inQueue.isEmpty() && atPolling.isEmpty()) {
            return "Nobody starved; the luckiest thread got it " + ConsoleTable.fairness(queued)
                    + " times as often as the unluckiest in the queue, " + ConsoleTable.fairness(polling)
                    + " times polling.";
        }
        return (atPolling + " " + (inQueue.isEmpty() ? "Nobody starved in the queue." : inQueue)).strip();
    }

    /** How many of all threads never got the lock, if any. */
    static Optional<String> starved(Measurement run) {
        OptionalDouble starved = run.figure(Figure.STARVED_THREADS);
        return starved.isPresent() && starved.getAsDouble() > 0 && run.load().isContended()
                ? Optional.of(
                        Math.round(starved.getAsDouble()) + " of " + run.load().threads() + " threads")
                : Optional.empty();
    }

    private static Optional<Measurement> run(Report report, String store, Scenario scenario, String contender) {
        return report.measurements().stream()
                .filter(run -> run.store().equals(store) && run.scenario() == scenario)
                .filter(run ->
                        run.contender().equals(contender) && run.refused().isEmpty())
                .findFirst();
    }

    private static double value(Measurement run, Figure figure) {
        return run.figure(figure).orElse(0);
    }
}
