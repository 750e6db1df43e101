package io.holdfast.cli.run;

import io.holdfast.LockEvent;
import io.holdfast.LockListener;
import io.holdfast.cli.console.FailureText;
import io.holdfast.cli.console.LockText;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;

/** Says when the store stops answering while a lock is held, and when it answers again. */
final class RenewalReporter implements LockListener {

    private final Output output;
    private volatile boolean failing;

    RenewalReporter(Output output) {
        this.output = output;
    }

    /** Whether the store has not answered lately. */
    boolean isFailing() {
        return failing;
    }

    /** One event at a time, as every listener is called. */
    @Override
    public void on(LockEvent event) {
        if (event instanceof LockEvent.RenewalFailing failure && !failing) {
            failing = true;
            output.warn("lock " + Names.inText(failure.name()) + " could not be renewed ("
                    + FailureText.reason(failure.cause()) + "); it is still held for "
                    + LockText.span(failure.stillValidFor()) + ", trying again.");
        } else if (event instanceof LockEvent.Renewed renewed && failing) {
            failing = false;
            output.warn("lock " + Names.inText(renewed.name()) + " is renewed again.");
        }
    }
}
