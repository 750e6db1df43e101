package io.holdfast.cli.console;

import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;

/** How trouble with a store reads in the command's own sentences. */
public final class FailureText {

    private FailureText() {}

    /** What the store said or did, without the lock it was about, and without a full stop. */
    public static String reason(Throwable trouble) {
        String reason = String.valueOf(trouble.getMessage());
        if (trouble instanceof StoreUnavailableException unavailable) {
            reason = unavailable.reason();
        } else if (trouble instanceof UnknownOutcomeException unknown) {
            reason = unknown.reason();
        }
        return reason.endsWith(".") ? reason.substring(0, reason.length() - 1) : reason;
    }

    public static String sentence(String text) {
        return text.endsWith(".") ? text : text + ".";
    }
}
