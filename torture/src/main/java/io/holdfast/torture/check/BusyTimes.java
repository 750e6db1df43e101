package io.holdfast.torture.check;

import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.Operation;
import java.util.List;

/** When the machine of a run was too busy for a wait to say anything about the store. */
final class BusyTimes {

    private final Stretches stretches = new Stretches();

    BusyTimes(List<Event> events) {
        for (Event event : events) {
            Long until = event.untilNanos();
            if (event.operation() == Operation.BUSY && until != null) {
                stretches.add(event.nanos(), until);
            }
        }
    }

    boolean anyBetween(long from, long to) {
        return stretches.anyBetween(from, to);
    }

    /** How much of that time the machine was not too busy. */
    long judgedNanos(long from, long to) {
        return to - from - stretches.covered(from, to);
    }
}
