package io.holdfast.torture.history;

import io.holdfast.LockException;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/*
 * When was a request sent? The tap reads the clock before it passes a request on; the store reads it again, later but before it
 * sends. Some stores answer a renewal with what an earlier request of the whole session achieved, and then their base is the
 * earlier one. The earlier of both is never later than the truth, whether or not the store tells it; a store that counts from
 * the reply cannot fool it. Requests of one ticket may overlap, and a report does not say which of them it answers: the one that
 * was sent first counts. A report without a new base, a push, is owed to the request that brought the base it has.
 *
 * The deadline that a ticket has before any answer is provisional, and the first answer replaces it. So it is never passed on as
 * if the store had given it: else a shorter one that comes with the answer would not count.
 */

/**
 * A ticket of the engine, and the one the real store gets in its stead: what the store reports to the one is written down and
 * passed on to the other. Thread-safe.
 */
final class TappedTicket implements Ticket.Listener {

    private final Ticket outer;
    private final Recorder recorder;
    private final Ticket inner;
    private final Extent provisional;
    private volatile boolean queued;

    // Guarded by this.
    private final List<Long> underWay = new ArrayList<>();
    private long lastBegunNanos;
    private long knownBaseNanos;
    private long knownSentNanos;

    /** What a store has given: a ttl from a moment on. */
    private record Extent(Duration ttl, long baseNanos) {}

    private TappedTicket(Ticket outer, Recorder recorder) {
        this.outer = outer;
        this.recorder = recorder;
        this.lastBegunNanos = System.nanoTime();
        this.inner = outer.forNode(this);
        this.provisional = extent();
        this.knownBaseNanos = provisional.baseNanos;
        this.knownSentNanos = lastBegunNanos;
        outer.attach(this);
    }

    /** What stands behind a ticket of the engine; made when it is first named, be it to withdraw one that was never asked for. */
    static TappedTicket of(Ticket outer, Recorder recorder) {
        return outer.handle(TappedTicket.class).orElseGet(() -> new TappedTicket(outer, recorder));
    }

    /** The ticket for the real store. */
    Ticket inner() {
        return inner;
    }

    /** A request about it is passed on. */
    synchronized void begin(long nowNanos) {
        underWay.add(nowNanos);
        lastBegunNanos = nowNanos;
    }

    /** The request that began then has come back. */
    void finish(long begunNanos) {
        synchronized (this) {
            underWay.remove(begunNanos);
        }
        if (!inner.demand().equals(outer.demand())) {
            outer.downgraded(); // of which no listener is told
        }
    }

    /** The engine has ended its own. */
    void end() {
        inner.end();
    }

    @Override
    public void granted() {
        write(Operation.GRANTED);
        passGrant();
    }

    @Override
    public void kept() {
        if (inner.state() == Ticket.State.HELD) {
            write(Operation.RENEWED);
            passGrant();
            return;
        }
        write(queued ? Operation.RENEWED : Operation.QUEUED);
        queued = true;
        Extent extent = extent();
        outer.waiting(extent.ttl, extent.baseNanos);
    }

    @Override
    public void failing(LockException cause) {
        outer.failing(cause);
    }

    @Override
    public void ended(Ticket.Ending why) {
        if (inner.storeToken() == Tokens.NONE) {
            recorder.write(event(Operation.UNQUEUED));
        }
        outer.gone(why.reason(), why.detail());
    }

    @Override
    public void unwanted() {
        write(Operation.GRANTED);
        passGrant();
    }

    /** To one that is held already this says that it was kept. */
    private void passGrant() {
        Extent extent = extent();
        if (extent.equals(provisional)) {
            outer.granted(inner.storeToken());
        } else {
            outer.granted(inner.storeToken(), extent.ttl, extent.baseNanos);
        }
    }

    private void write(Operation operation) {
        Extent extent = extent();
        Event.Builder event = event(operation).sent(sentNanos(extent.baseNanos), extent.ttl.toNanos());
        recorder.write(operation == Operation.GRANTED ? event.token(Tokens.ofUsers(inner.storeToken(), 0)) : event);
    }

    private Event.Builder event(Operation operation) {
        return recorder.event(System.nanoTime(), operation, Phase.OK)
                .lock(outer.name())
                .owner(outer.owner().toString())
                .demand(outer.demand());
    }

    /** When the request was sent that brought this base, or earlier. */
    private synchronized long sentNanos(long baseNanos) {
        if (baseNanos != knownBaseNanos) {
            long begun = underWay.isEmpty() ? lastBegunNanos : Collections.min(underWay);
            knownBaseNanos = baseNanos;
            knownSentNanos = Math.min(begun, baseNanos);
        }
        return knownSentNanos;
    }

    /** Both parts of one report, although others may come meanwhile: each of them moves the end on. */
    private Extent extent() {
        while (true) {
            long end = inner.endNanos();
            Extent read = new Extent(inner.givenTtl(), inner.baseNanos());
            if (end == inner.endNanos()) {
                return read;
            }
        }
    }
}
