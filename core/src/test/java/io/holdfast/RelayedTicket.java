package io.holdfast;

import io.holdfast.spi.Ticket;
import io.holdfast.spi.Tokens;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Stands for the engine's ticket at the store behind a {@link FaultyStore}, and passes on what that store says: at once, or with
 * the answer to a request. Thread-safe.
 */
final class RelayedTicket implements Ticket.Listener {

    private final Ticket engines;
    private final Ticket stores;
    private final List<Runnable> answer = new ArrayList<>(); // guarded by this
    private boolean heldBack; // guarded by this

    private RelayedTicket(Ticket engines) {
        this.engines = engines;
        this.stores = engines.forNode(this);
    }

    /** That of an engine's ticket; made when first asked for, which is before anything is sent. */
    static RelayedTicket of(Ticket engines) {
        return engines.handle(RelayedTicket.class).orElseGet(() -> {
            RelayedTicket relayed = new RelayedTicket(engines);
            engines.attach(relayed);
            return relayed;
        });
    }

    Ticket atStore() {
        return stores;
    }

    /** As the store sees a ticket whose owner has ended it. */
    Ticket endedAtStore() {
        stores.end();
        return stores;
    }

    /** From now on what the store says belongs to an answer. */
    synchronized void holdBack() {
        heldBack = true;
    }

    /** What the store says from now on does not belong to the answer any more. */
    synchronized void endAnswer() {
        heldBack = false;
    }

    /** The answer arrives, or is lost. */
    void settle(boolean arrives) {
        List<Runnable> reports;
        synchronized (this) {
            heldBack = false;
            reports = new ArrayList<>(answer);
            answer.clear();
        }
        if (arrives) {
            reports.forEach(Runnable::run);
            if (!stores.demand().equals(engines.demand())) {
                engines.downgraded();
            }
        }
    }

    @Override
    public void granted() {
        reportGrant();
    }

    @Override
    public void unwanted() {
        reportGrant();
    }

    private void reportGrant() {
        long token = stores.storeToken();
        Duration ttl = stores.givenTtl();
        long base = stores.baseNanos();
        pass(() -> engines.granted(token, ttl, base));
    }

    /** Of a grant whose report was lost this is the first news. */
    @Override
    public void kept() {
        long token = stores.storeToken();
        Duration ttl = stores.givenTtl();
        long base = stores.baseNanos();
        pass(() -> {
            if (token == Tokens.NONE) {
                engines.waiting(ttl, base);
            } else if (engines.state() == Ticket.State.WAITING) {
                engines.granted(token, ttl, base);
            } else {
                engines.extended(ttl, base);
            }
        });
    }

    @Override
    public void failing(LockException cause) {
        pass(() -> engines.failing(cause));
    }

    @Override
    public void ended(Ticket.Ending why) {
        pass(() -> engines.gone(why.reason(), why.detail()));
    }

    private void pass(Runnable report) {
        synchronized (this) {
            if (heldBack) {
                answer.add(report);
                return;
            }
        }
        report.run();
    }
}
