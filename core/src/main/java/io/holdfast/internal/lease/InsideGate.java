package io.holdfast.internal.lease;

import io.holdfast.internal.ticket.KeptTicket;

/** The stay of one lease inside its client's gate, from before its first request until the lease has ended. */
public interface InsideGate {

    /** Lets the next in. Once; later calls do nothing. */
    void leave();

    /** Leaves, and leaves the ticket to the next in. False, and still inside, if the first in the gate's queue cannot use it. */
    boolean handOn(KeptTicket ticket);

    /** The stay goes on as that of a shared lease, and readers behind it are let in. This one is over. */
    InsideGate asShared();
}
