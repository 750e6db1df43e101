package io.holdfast.spi;

import io.holdfast.Demand;
import io.holdfast.LockException;
import io.holdfast.LockView.Origin;
import io.holdfast.LossReason;
import io.holdfast.Renewal;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * One claim at a store, from before its first request to its end: {@link State#WAITING}, then {@link State#HELD}, then
 * {@link State#ENDED}.
 *
 * <p>The engine makes a ticket before anything is sent and owns its life. A store only reports what it learns about it, from
 * any thread, any number of times, in any order: {@link #granted}, {@link #waiting}, {@link #extended}, {@link #failing},
 * {@link #gone}. A report is one atomic change and returns at once; it may come from inside
 * {@link LockStore#request}. A ticket is asked for once and is one entry in the store: asking again takes a new ticket with a
 * new owner. Thread-safe.
 */
public final class Ticket {

    /*
     * Everything known of a claim is one immutable Standing, replaced by compare-and-set: the state, the token and the deadline
     * change together, so no reader acts on a deadline that belongs to another state. What that settles:
     *
     * - A grant may be reported twice (pushed, and in the answer to a heartbeat that overtook the push): the first makes the
     *   ticket HELD, the second at most moves its deadline.
     * - A loss may overtake the grant it ends: the ticket is ENDED, and the grant that comes later is unwanted. The listener
     *   gives it back, whatever it was.
     * - Answers to renewals may overtake each other: the deadline only moves on.
     * - An answer may arrive when the deadline has passed but the ticket has not ended. It must not revive it, for isValid() may have
     *   returned false meanwhile. So what meets a passed deadline, the answer, the timer or isValid(), ends the ticket, in the
     *   same step in which it looked; it is either ended or kept, never neither.
     * - A pushed grant has no base of its own: it may have lain in a socket through a long pause. It gets the deadline of the
     *   last answered request. A waiting ticket is not ended by its deadline alone, since the answer that grants it may bring a
     *   newer one (a first connection may take longer than the ttl).
     *
     * The deadline reckoned before any answer is provisional: the first answer replaces it, for the store may give a shorter ttl
     * than was asked for. That holds also for a ticket that a push made HELD before its first answer came.
     */

    /** How far a claim has come. Only ever moves on. */
    public enum State {
        /** Not granted yet: on its way to the store, or in the queue there. */
        WAITING,
        /** Granted, and neither released nor lost. */
        HELD,
        /** Final: released, lost, withdrawn or expired. */
        ENDED
    }

    /**
     * Why a ticket ended without being ended by its owner.
     *
     * @param reason what ended it
     * @param detail the same for people
     */
    public record Ending(LossReason reason, String detail) {}

    /**
     * How far the time of a ticket reaches, by one answer of the store.
     *
     * @param givenTtl the ttl the store really gave
     * @param baseNanos {@code nanoTime} just before that request was sent
     * @param endNanos when the ticket ends here, safely ahead of its end at the store
     */
    public record Extent(Duration givenTtl, long baseNanos, long endNanos) {}

    /** Hears what became of a ticket. Called on the reporting thread, after the change; returns at once and calls no store. */
    public interface Listener {

        /** It is held now. */
        default void granted() {}

        /** Its place in the queue or its grant was kept, and the deadline may have moved on. */
        default void kept() {}

        /** It is shared now. */
        default void downgraded() {}

        /** The store could not be asked to keep it; it goes on until its deadline. */
        default void failing(LockException cause) {}

        /** The store, or the deadline, ended it. */
        default void ended(Ending why) {}

        /** A grant was reported after the end: {@link #storeToken} tells which. It must be given back. */
        default void unwanted() {}
    }

    private static final Ending EXPIRED = new Ending(LossReason.EXPIRED, "it was not renewed in time");

    private final String name;
    private final OwnerId owner;
    private final Duration ttl;
    private final Origin origin;
    private final Validity validity;
    private final Listener listener;
    private final Renewal renewal;
    private final AtomicReference<Standing> standing;
    private volatile @Nullable Object handle;

    /**
     * @param name the lock, already validated
     * @param owner this acquisition and no other
     * @param demand how the lock is to be held
     * @param ttl how long the store keeps it without hearing from us
     * @param origin where it comes from, for people
     * @param validity by which clock and margin its deadline is reckoned
     * @param listener hears what becomes of it
     */
    public Ticket(
            String name,
            OwnerId owner,
            Demand demand,
            Duration ttl,
            Origin origin,
            Validity validity,
            Listener listener) {
        this(name, owner, demand, ttl, origin, validity, listener, validity.nanoTime(), Renewal.AUTO);
    }

    /** As the other, for those who have just looked at the clock, and with what becomes of it once it is held. */
    public Ticket(
            String name,
            OwnerId owner,
            Demand demand,
            Duration ttl,
            Origin origin,
            Validity validity,
            Listener listener,
            long nowNanos,
            Renewal renewal) {
        this.name = name;
        this.owner = owner;
        this.ttl = ttl;
        this.origin = origin;
        this.validity = validity;
        this.listener = listener;
        this.renewal = renewal;
        this.standing = new AtomicReference<>(new Standing(
                State.WAITING,
                demand,
                Answered.NEVER,
                Tokens.NONE,
                ttl,
                nowNanos,
                validity.endNanos(nowNanos, ttl),
                null));
    }

    /** The same claim at one of several stores that decide together. */
    public Ticket forNode(Listener nodeListener) {
        return new Ticket(name, owner, demand(), ttl, origin, validity, nodeListener, validity.nanoTime(), renewal);
    }

    public String name() {
        return name;
    }

    public OwnerId owner() {
        return owner;
    }

    /** What it asks for; a downgraded ticket asks for {@link Demand.Shared}. */
    public Demand demand() {
        return standing.get().demand;
    }

    /** How long the store is asked to keep it from each request on. */
    public Duration ttl() {
        return ttl;
    }

    public Origin origin() {
        return origin;
    }

    /** Whether it is renewed once it is held. If not, its grant must last the whole ttl from when it was asked for. */
    public Renewal renewal() {
        return renewal;
    }

    /** Keeps whatever the store needs to find its entry again. To be set before anything is sent. */
    public void attach(Object storesHandle) {
        handle = storesHandle;
    }

    /** What the store attached, if it is of that type. */
    public <T> Optional<T> handle(Class<T> type) {
        Object attached = handle;
        return type.isInstance(attached) ? Optional.of(type.cast(attached)) : Optional.empty();
    }

    // What a store reports.

    /**
     * The lock is held.
     *
     * @param storeToken the store's fencing token
     * @param givenTtl the ttl the store really gives
     * @param baseNanos {@code nanoTime} just before the request was sent by which the store last extended this. Never the time
     *     of a reply or of a push
     */
    public void granted(long storeToken, Duration givenTtl, long baseNanos) {
        grant(storeToken, was -> was.extended(givenTtl, baseNanos, validity));
    }

    /** The lock is held, by a push: the deadline is that of the last answered request. */
    public void granted(long storeToken) {
        grant(storeToken, was -> was);
    }

    private void grant(long storeToken, UnaryOperator<Standing> extension) {
        Tokens.requireStoreToken(name, storeToken);
        report(was -> switch (was.state) {
            case WAITING -> orExpired(extension.apply(was).held(storeToken));
            case HELD -> extendedOrExpired(was, extension);
            case ENDED -> was.withToken(storeToken);
        });
    }

    /** The ticket has its place in the queue; parameters as for {@link #granted(long, Duration, long)}. */
    public void waiting(Duration givenTtl, long baseNanos) {
        keep(givenTtl, baseNanos, Answered.QUEUED);
    }

    /** The grant was kept; parameters as for {@link #granted(long, Duration, long)}. */
    public void extended(Duration givenTtl, long baseNanos) {
        keep(givenTtl, baseNanos, Answered.YES);
    }

    private void keep(Duration givenTtl, long baseNanos, Answered answered) {
        report(was -> switch (was.state) {
            case WAITING -> was.extended(givenTtl, baseNanos, validity).answered(answered);
            case HELD -> extendedOrExpired(was, it -> it.extended(givenTtl, baseNanos, validity));
            case ENDED -> was;
        });
    }

    /** The store could not be asked to keep this, or did not answer, while others may have gone well. */
    public void failing(LockException cause) {
        if (state() != State.ENDED) {
            listener.failing(cause);
        }
    }

    /** The store no longer has it. */
    public void gone(LossReason reason, String detail) {
        report(was -> was.state == State.ENDED ? was : was.ended(new Ending(reason, detail)));
    }

    /** The exclusive grant goes on as a shared one of the same owner and token. */
    public void downgraded() {
        standing.updateAndGet(was -> was.withDemand(Demand.shared()));
        listener.downgraded();
    }

    // What the engine asks, and stores may.

    public State state() {
        return standing.get().state;
    }

    /** Whether the store has said that the ticket is in its queue. */
    public boolean isQueued() {
        Standing now = standing.get();
        return now.state == State.WAITING && now.answered == Answered.QUEUED;
    }

    /** Whether it is held and its deadline has not passed. Once false it stays false: a passed deadline ends the ticket. */
    public boolean isValid() {
        return state() == State.HELD && !endIfExpired();
    }

    /** Ends it if its deadline has passed, waiting or held. False if there is time left. */
    public boolean endIfExpired() {
        return endIfExpired(validity.nanoTime());
    }

    /** As {@link #endIfExpired()}, for those who have just looked at the clock. */
    public boolean endIfExpired(long nowNanos) {
        while (true) {
            Standing now = standing.get();
            if (now.state == State.ENDED) {
                return true;
            }
            if (now.endNanos - nowNanos > 0) {
                return false;
            }
            replace(now, now.ended(EXPIRED));
        }
    }

    /** Ends it on its owner's behalf; its listener is not told. Returns how far it had come. */
    public State end() {
        return standing.getAndUpdate(was -> was.state == State.ENDED ? was : was.ended(null)).state;
    }

    /** Why it ended, if the store or its deadline ended it. */
    public Optional<Ending> ending() {
        return Optional.ofNullable(standing.get().ending);
    }

    /** The store's token of its grant, or {@link Tokens#NONE} if none was reported; kept when the ticket has ended. */
    public long storeToken() {
        return standing.get().token;
    }

    /** The ttl the store really gives, as far as is known. */
    public Duration givenTtl() {
        return standing.get().ttl;
    }

    /** {@code nanoTime} just before the request was sent by which the store last extended this. */
    public long baseNanos() {
        return standing.get().baseNanos;
    }

    /** When it ends here unless extended before, safely ahead of its end at the store. */
    public long endNanos() {
        return standing.get().endNanos;
    }

    /** The last three at one look, however many answers come meanwhile; empty unless it is held. */
    public Optional<Extent> held() {
        Standing now = standing.get();
        return now.state == State.HELD
                ? Optional.of(new Extent(now.ttl, now.baseNanos, now.endNanos))
                : Optional.empty();
    }

    @Override
    public String toString() {
        Standing now = standing.get();
        return "Ticket[" + name + ", " + owner + ", " + now.demand + ", " + now.state + "]";
    }

    /** Changes the standing as a store's report demands. */
    private void report(UnaryOperator<Standing> change) {
        Standing was;
        do {
            was = standing.get();
        } while (!replace(was, change.apply(was)));
    }

    /** Swaps the standing, unless another report came between, and tells the listener what that means. */
    private boolean replace(Standing was, Standing next) {
        if (!standing.compareAndSet(was, next)) {
            return false;
        }
        boolean granted = next.token != was.token;
        if (was.state != State.ENDED && next.ending != null) {
            listener.ended(next.ending);
        }
        if (next.state == State.ENDED) {
            if (granted) {
                listener.unwanted(); // one that was heard of before is given back by the one who ended the ticket
            }
        } else if (granted) {
            listener.granted();
        } else {
            listener.kept();
        }
        return true;
    }

    private Standing orExpired(Standing now) {
        return now.endNanos - validity.nanoTime() > 0 ? now : now.ended(EXPIRED);
    }

    private Standing extendedOrExpired(Standing held, UnaryOperator<Standing> extension) {
        Standing now = orExpired(held);
        return now.state == State.ENDED ? now : extension.apply(now);
    }

    /** What the store has said so far. */
    private enum Answered {
        NEVER,
        YES,
        QUEUED
    }

    private record Standing(
            State state,
            Demand demand,
            Answered answered,
            long token,
            Duration ttl,
            long baseNanos,
            long endNanos,
            @Nullable Ending ending) {

        /** Only ever later, but for the first answer, which replaces what was reckoned before any. */
        Standing extended(Duration givenTtl, long givenBase, Validity validity) {
            long end = validity.endNanos(givenBase, givenTtl);
            if (answered != Answered.NEVER && end - endNanos <= 0) {
                return this;
            }
            Answered now = answered == Answered.NEVER ? Answered.YES : answered;
            return new Standing(state, demand, now, token, givenTtl, givenBase, end, ending);
        }

        Standing answered(Answered now) {
            return new Standing(state, demand, now, token, ttl, baseNanos, endNanos, ending);
        }

        Standing held(long storeToken) {
            return new Standing(State.HELD, demand, answered, storeToken, ttl, baseNanos, endNanos, null);
        }

        Standing withToken(long storeToken) {
            return new Standing(state, demand, answered, storeToken, ttl, baseNanos, endNanos, ending);
        }

        Standing withDemand(Demand other) {
            return new Standing(state, other, answered, token, ttl, baseNanos, endNanos, ending);
        }

        Standing ended(@Nullable Ending why) {
            return new Standing(State.ENDED, demand, answered, token, ttl, baseNanos, endNanos, why);
        }
    }
}
