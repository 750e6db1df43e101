package io.holdfast.torture.check;

import io.holdfast.Demand;
import io.holdfast.torture.history.Event;
import java.util.List;

/**
 * One lease as a history proves it: when it was granted and when it ended at the store lies within these bounds.
 *
 * @param demand how it was held
 * @param token its fencing token
 * @param invokeNanos when acquire was called: not granted before
 * @param okNanos when acquire had returned: granted by then
 * @param endNanos it did not end at the store before this, if the store did its duty; may lie before {@code okNanos}
 * @param beliefNanos until when, at least, its holder believed in it, counted from {@code okNanos}
 * @param events that show it: invoke and outcome of acquire and, as far as there are any, of its end
 */
record Tenure(
        Demand demand,
        long token,
        long invokeNanos,
        long okNanos,
        long endNanos,
        long beliefNanos,
        List<Event> events) {}
