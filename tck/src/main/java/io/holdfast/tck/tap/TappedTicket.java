package io.holdfast.tck.tap;

import io.holdfast.LockException;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.Ticket.State;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.Validity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/*
 * The store reports to a ticket of the tap's own, whose state changes at once, whether or not the engine ever hears of it. So
 * reports can be lost, and what the engine's ticket knows may lag behind:
 *
 * - A lost grant or loss is made up for by the next answer that arrives (catchUp): a store tells it again in the answer to the
 *   next heartbeat, but a ticket that has changed already does not change again and its listener hears nothing.
 * - To give back what it never heard of, the engine asks with a ticket that knows no token. The store must then get one that
 *   knows none either (endedAtStore), for it must find the grant by its owner.
 */

/** An engine's ticket as the store behind a {@link StoreTap} sees it. Thread-safe. */
public final class TappedTicket implements Ticket.Listener {

    private final Ticket engines;
    private final Ticket stores;
    private final StoreTap tap;
    private final List<Report> answer = new ArrayList<>(); // guarded by this
    private boolean answering; // guarded by this
    private volatile boolean waited;

    public TappedTicket(Ticket engines, StoreTap.Asked asked, TimeSource time, StoreTap tap) {
        this.engines = engines;
        this.tap = tap;
        boolean disguised = !asked.equals(new StoreTap.Asked(engines.name(), engines.demand(), engines.ttl()));
        this.stores = disguised
                ? new Ticket(
                        asked.name(),
                        engines.owner(),
                        asked.demand(),
                        asked.ttl(),
                        engines.origin(),
                        new Validity(time, Duration.ZERO),
                        this,
                        time.nanoTime(),
                        engines.renewal())
                : engines.forNode(this);
        knowTheGrantOf(engines);
    }

    /** That of an engine's ticket; made when first asked for, which is before anything is sent. */
    public static TappedTicket of(Ticket engines, Function<Ticket, TappedTicket> made) {
        return engines.handle(TappedTicket.class).orElseGet(() -> {
            TappedTicket tapped = made.apply(engines);
            engines.attach(tapped);
            return tapped;
        });
    }

    /** What the store attached to its ticket, behind all taps. */
    public static boolean hasHandle(Ticket ticket) {
        return ticket.handle(TappedTicket.class)
                .map(tapped -> hasHandle(tapped.stores))
                .orElseGet(() -> ticket.handle(Object.class).isPresent());
    }

    /** The same claim with the same handle and another listener, for requests its engine does not hear of. */
    public static Ticket twinOf(Ticket ticket) {
        Ticket twin = ticket.forNode(new Ticket.Listener() {});
        copyHandle(ticket, twin);
        return twin;
    }

    public static void copyHandle(Ticket from, Ticket to) {
        from.handle(TappedTicket.class)
                .ifPresentOrElse(
                        tapped -> to.attach(new TappedTicket(to, tapped)),
                        () -> from.handle(Object.class).ifPresent(to::attach));
    }

    private TappedTicket(Ticket engines, TappedTicket other) {
        this.engines = engines;
        this.tap = other.tap;
        this.stores = other.stores.forNode(this);
        knowTheGrantOf(engines);
        copyHandle(other.stores, stores);
    }

    /** One that was granted before it came here: the store knows it already. */
    private void knowTheGrantOf(Ticket granted) {
        if (granted.storeToken() != Tokens.NONE) {
            beginAnswer();
            stores.granted(granted.storeToken());
            endAnswer();
            answer.clear();
        }
    }

    public Ticket atStore() {
        return stores;
    }

    /** As the store sees it once its owner has ended it: with its token only if the engine knows that. */
    Ticket endedAtStore() {
        stores.end();
        if (engines.storeToken() != Tokens.NONE || stores.storeToken() == Tokens.NONE) {
            return stores;
        }
        Ticket withoutToken = twinOf(stores);
        withoutToken.end();
        return withoutToken;
    }

    /** What the store says from now on is its answer to a request. */
    synchronized void beginAnswer() {
        answering = true;
    }

    /** What it says from now on is not. */
    synchronized void endAnswer() {
        answering = false;
    }

    /** The answer reaches the engine, or is lost. */
    void settleAnswer(boolean arrives) {
        List<Report> reports;
        synchronized (this) {
            reports = List.copyOf(answer);
            answer.clear();
        }
        if (arrives) {
            reports.forEach(tap::pass);
            catchUp();
        }
    }

    /** Tells the engine's ticket what the store has told its own, but for what was told already. */
    void catchUp() {
        if (engines.state() == State.ENDED) {
            return;
        }
        if (stores.state() == State.HELD && engines.state() == State.WAITING) {
            tap.pass(grant());
        } else if (stores.state() == State.ENDED) {
            stores.ending().ifPresent(why -> tap.pass(new Report.Gone(engines, why.reason(), why.detail())));
        }
    }

    @Override
    public void granted() {
        if (waited) {
            tap.countPush();
        }
        report(grant());
    }

    @Override
    public void unwanted() {
        report(grant());
    }

    private Report.Granted grant() {
        return new Report.Granted(engines, stores.storeToken(), stores.givenTtl(), stores.baseNanos(), waited);
    }

    @Override
    public void kept() {
        if (stores.state() == State.WAITING) {
            waited = true;
            report(new Report.Waiting(engines, stores.givenTtl(), stores.baseNanos()));
        } else {
            report(new Report.Extended(engines, stores.givenTtl(), stores.baseNanos()));
        }
    }

    @Override
    public void downgraded() {
        report(new Report.Downgraded(engines));
    }

    @Override
    public void failing(LockException cause) {
        report(new Report.Failing(engines, cause));
    }

    @Override
    public void ended(Ticket.Ending why) {
        report(new Report.Gone(engines, why.reason(), why.detail()));
    }

    private void report(Report report) {
        synchronized (this) {
            if (answering) {
                answer.add(report);
                return;
            }
        }
        tap.pass(report);
    }
}
