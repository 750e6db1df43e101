package io.holdfast.internal;

import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;

/** Something the keeper keeps alive at the store: a held lock or a place in line. */
interface Kept {

    OwnerId owner();

    /** The server whose renewal batch this belongs to. */
    String lane();

    /** When to renew next. */
    long dueNanos();

    /** When this ends locally unless renewed before. */
    long endNanos();

    /** How long renewals may be bunched: a tenth of the time between two of them. */
    long slackNanos();

    /** Reserves this for one request, so that requests never overtake each other; false if one is under way. */
    boolean beginRequest();

    void finishRequest();

    RenewalRequest renewalRequest();

    void extended(RenewalAnswer.Extended answer);

    void failing(LockException cause);

    /** The store says it is no more. False if this has nobody to tell, since another is about to take its place. */
    boolean gone(LossReason reason, String detail);

    /**
     * The local end has come, as it seems: an answer may move it at this very moment. What ends for it is dropped from the
     * keeper by whoever ends it. Runs on the timer thread: no I/O.
     */
    void ended();
}
