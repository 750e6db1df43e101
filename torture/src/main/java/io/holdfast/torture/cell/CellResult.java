package io.holdfast.torture.cell;

import io.holdfast.torture.check.Verdict;
import io.holdfast.torture.history.Event;
import io.holdfast.torture.nemesis.Schedule;
import java.nio.file.Path;
import java.util.List;

/**
 * What came of a cell. Immutable.
 *
 * @param cell what was run
 * @param schedule the faults as planned
 * @param verdict on every promise
 * @param troubles what went wrong with the run itself: a worker that broke, a fault that could not be done
 * @param history all events
 * @param directory where the history files are
 */
public record CellResult(
        Cell cell, Schedule schedule, Verdict verdict, List<String> troubles, List<Event> history, Path directory) {

    public CellResult {
        troubles = List.copyOf(troubles);
    }
}
