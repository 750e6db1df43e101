package io.holdfast.tck.promise;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView;
import io.holdfast.LockView.Origin;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.LockStore.Mode;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.Refusal;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.Ticket;
import io.holdfast.spi.TimeSource;
import io.holdfast.spi.Tokens;
import io.holdfast.spi.Validity;
import io.holdfast.spi.Withdrawal;
import io.holdfast.tck.tap.StoreTap;
import io.holdfast.tck.tap.TappedTicket;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Talks to a client's store as its engine does, but without the engine: nothing is renewed, repeated or undone. */
final class DirectStore {

    /** Beyond the numbers the client's own engine uses. */
    private final AtomicLong number = new AtomicLong(1_000_000);

    private final LockStore store;
    private final StoreContext context;

    DirectStore(StoreTap tap) {
        this.store = tap.opened();
        this.context = tap.context();
    }

    /** What a store says to a renewal. */
    enum Word {
        NOTHING,
        KEPT,
        FAILING,
        GONE
    }

    LockStore store() {
        return store;
    }

    Deadline deadline() {
        return Deadline.after(context.time(), Duration.ofSeconds(5));
    }

    /** A claim with an owner id of its own. Nothing is sent yet. */
    Claim claim(String name, Demand demand, Duration ttl) {
        OwnerId owner = new OwnerId(context.clientId(), number.incrementAndGet());
        return new Claim(name, owner, demand, ttl, new Origin(context.clientName(), "tck-host", 4711, "tck-thread"));
    }

    Optional<Refusal> tryOnce(Claim claim) {
        return store.request(claim.ticket, Mode.TRY, deadline());
    }

    Claim grant(String name, Demand demand, Duration ttl) {
        Claim claim = claim(name, demand, ttl);
        assertThat(tryOnce(claim)).as("refusal of the free lock '%s'", name).isEmpty();
        assertThat(claim.isHeld()).as("'%s' is held", name).isTrue();
        return claim;
    }

    Claim queued(String name, Demand demand, Duration ttl) {
        Claim claim = claim(name, demand, ttl);
        assertThat(store.request(claim.ticket, Mode.QUEUE, deadline()))
                .as("refusal of a place in the queue of '%s'", name)
                .isEmpty();
        assertThat(claim.ticket.isQueued())
                .as("waits in the queue of '%s'", name)
                .isTrue();
        return claim;
    }

    Word renew(Claim claim) {
        return claim.hear(() -> store.renew(List.of(claim.ticket), deadline()));
    }

    Word extend(Claim claim, Duration ttl) {
        return claim.hear(() -> store.extend(claim.ticket, ttl, deadline()));
    }

    ReleaseAnswer release(Claim claim) {
        claim.ticket.end();
        return store.release(claim.ticket, Duration.ZERO, deadline());
    }

    Withdrawal withdraw(Claim claim) {
        claim.ticket.end();
        return store.withdraw(claim.ticket, deadline());
    }

    /** Takes from an engine's ticket what it has at the store. */
    Withdrawal withdrawBehindTheBackOf(Ticket engines) {
        Ticket twin = TappedTicket.twinOf(engines);
        twin.end();
        return store.withdraw(twin, deadline());
    }

    /** As the store tells it, with the store's own tokens. */
    LockView view(String name) {
        return store.view(name, deadline());
    }

    LockStore.Page views(String prefix, Optional<String> after, int limit) {
        return store.views(prefix, after, limit, deadline());
    }

    /** A ticket without an engine. Time stands still for it, so that the store's words decide, not the local deadline. */
    static final class Claim implements Ticket.Listener {

        private final Ticket ticket;
        private volatile Word heard = Word.NOTHING;

        private Claim(String name, OwnerId owner, Demand demand, Duration ttl, Origin origin) {
            this.ticket =
                    new Ticket(name, owner, demand, ttl, origin, new Validity(new StoppedTime(), Duration.ZERO), this);
        }

        String name() {
            return ticket.name();
        }

        Demand demand() {
            return ticket.demand();
        }

        long storeToken() {
            return ticket.storeToken();
        }

        boolean isHeld() {
            return ticket.state() == Ticket.State.HELD;
        }

        boolean hasBeenGranted() {
            return ticket.storeToken() != Tokens.NONE;
        }

        /** Whether the store finds it by a handle, not by its owner. */
        boolean hasHandle() {
            return TappedTicket.hasHandle(ticket);
        }

        /** The same with a grant the store never gave it. */
        Claim pretendingToHold(long storeToken) {
            ticket.granted(storeToken);
            return this;
        }

        /** The same claim in the hands of somebody who hears nothing of what becomes of this one. */
        Claim twin() {
            Claim twin = new Claim(ticket.name(), ticket.owner(), ticket.demand(), ticket.ttl(), ticket.origin());
            twin.pretendingToHold(ticket.storeToken());
            TappedTicket.copyHandle(ticket, twin.ticket);
            return twin;
        }

        private Word hear(Runnable request) {
            heard = Word.NOTHING;
            request.run();
            // A store may have said so by itself before, and an ended ticket does not hear it twice.
            return heard == Word.NOTHING && ticket.ending().isPresent() ? Word.GONE : heard;
        }

        @Override
        public void kept() {
            heard = Word.KEPT;
        }

        @Override
        public void failing(LockException cause) {
            heard = Word.FAILING;
        }

        @Override
        public void ended(Ticket.Ending why) {
            heard = Word.GONE;
        }
    }

    private static final class StoppedTime implements TimeSource {

        private final long now = System.nanoTime();

        @Override
        public long nanoTime() {
            return now;
        }

        @Override
        public void parkUntil(Object blocker, long untilNanos) {
            LockSupport.park(blocker);
        }
    }
}
