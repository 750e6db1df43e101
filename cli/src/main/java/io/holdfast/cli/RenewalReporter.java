package io.holdfast.cli;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;

/** Says when the store stops answering while a lock is held, and when it answers again. */
final class RenewalReporter implements LockListener {

    private final Output output;
    private boolean failing;

    RenewalReporter(Output output) {
        this.output = output;
    }

    /** One event at a time, as every listener is called. */
    @Override
    public void on(LockEvent event) {
        if (event instanceof LockEvent.RenewalFailing failure && !failing) {
            failing = true;
            output.warn("lock '" + failure.name() + "' could not be renewed ("
                    + failure.cause().getMessage() + "); it is still held for "
                    + LockText.span(failure.stillValidFor()) + ", trying again.");
        } else if (event instanceof LockEvent.Renewed renewed && failing) {
            failing = false;
            output.warn("lock '" + renewed.name() + "' is renewed again.");
        }
    }
}
