package io.holdfast.spi;

/** Hears how a queued request ends. Calls return at once and may come before {@code enqueue} has returned. */
public interface TicketListener {

    /** The lock is held. Its base is the ticket's last answered enqueue or heartbeat, not this moment. */
    void granted(Grant grant);

    /** The place in line is gone: the engine asks again or gives up. */
    void lost(String reason);
}
