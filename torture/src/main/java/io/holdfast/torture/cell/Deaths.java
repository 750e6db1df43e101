package io.holdfast.torture.cell;

import io.holdfast.torture.history.Event;
import io.holdfast.torture.history.HistoryReader;
import io.holdfast.torture.history.HistoryWriter;
import io.holdfast.torture.history.Operation;
import io.holdfast.torture.history.Phase;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the kernel frees what a killed process held, its death is the call of release: nobody comes back from it, and the lock
 * may be free from then on. The dead cannot write that down.
 */
final class Deaths {

    private Deaths() {}

    /** @param beforeNanos just before it was killed */
    static void release(String process, long beforeNanos, Path directory, HistoryWriter history) {
        Map<String, Event> held = new LinkedHashMap<>();
        for (Event event : HistoryReader.files(List.of(directory.resolve(process + HistoryReader.SUFFIX)))) {
            String acquisition = event.acquisition();
            if (acquisition == null) {
                continue;
            }
            if (event.is(Operation.ACQUIRE, Phase.OK)) {
                held.put(acquisition, event);
            } else if (event.is(Operation.RELEASE, Phase.INVOKE)) {
                held.remove(acquisition);
            }
        }
        held.forEach((acquisition, granted) -> {
            // Also after the granting if that came between our look at the clock and the kill.
            long nanos = Math.max(beforeNanos, granted.nanos());
            Event.Builder event = Event.at(nanos, granted.process(), Operation.RELEASE, Phase.INVOKE)
                    .acquisition(acquisition)
                    .detail("killed");
            if (granted.lock() != null) {
                event.lock(granted.lock());
            }
            history.write(event.build());
        });
    }
}
