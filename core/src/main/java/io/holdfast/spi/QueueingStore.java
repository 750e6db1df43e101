package io.holdfast.spi;

/** A store that keeps waiting requests in line and tells them when it is their turn. */
public interface QueueingStore extends LockStore {

    /**
     * Takes the lock if nobody is ahead, else a place in line: {@link Answer.Granted} or {@link Answer.Queued}. The
     * engine heartbeats the ticket through {@link #renew} and leaves the line through {@link #withdraw}; after that
     * returned, the listener is not called.
     */
    Answer enqueue(Request request, TicketListener listener, Deadline deadline);
}
