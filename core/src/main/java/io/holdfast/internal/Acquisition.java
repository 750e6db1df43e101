package io.holdfast.internal;

import io.holdfast.Fairness;
import io.holdfast.LockEvent;
import io.holdfast.LockException;
import io.holdfast.Renewal;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.Answer;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.Grant;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.QueueingStore;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import io.holdfast.spi.Request;
import io.holdfast.spi.RingingStore;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/*
 * One attempt of one caller to get a lease, from the gate to the grant.
 *
 *   AT_GATE ──► ASKING ──► granted
 *                │  ▲
 *                ▼  │
 *         QUEUED or PAUSED
 *
 * The same code serves threads that block and futures that do not: advance() goes as far as it can without waiting and
 * says when to come back at the latest; the driver (SyncDriver, AsyncDriver) parks or sets an alarm until then or until
 * wake() is called. Requests to the store run inside advance(), so on the thread that drives it. Only one thread drives
 * an acquisition at a time; what other threads have to say (the gate's call, the store's push, a bell) they leave where
 * advance() finds it, then wake.
 *
 * Whoever gives up (timeout, interrupt, cancel, close) calls abandon(): it leaves the gate and hands the place in line to
 * the errands, so a caller's deadline is kept even if the store is slow. A grant that arrives afterwards finds its
 * listener deaf and goes straight back.
 *
 * Trouble. A request that fails on the first try is the caller's business: it throws. Once the caller has waited in good
 * faith, a store that is away for a moment must not end the wait: it asks again until the outage has lasted a ttl, by
 * which time nothing of the wait is left at the store anyway.
 */
final class Acquisition extends Gate.Entry<Holding> {

    private static final Logger LOG = System.getLogger(Acquisition.class.getName());

    /** While the store is away it is asked this often at least, however long the ttl. */
    private static final long LONGEST_OUTAGE_PAUSE_NANOS = Duration.ofSeconds(1).toNanos();

    private enum Stage {
        AT_GATE,
        ASKING,
        QUEUED,
        PAUSED,
        OVER
    }

    /** How much a caller puts up with. */
    enum Patience {
        /** Asks once. */
        ONCE,
        /** Waits until a deadline. */
        LIMITED,
        /** Waits as long as it takes. */
        ENDLESS
    }

    private final Client client;
    private final LockTerms terms;
    private final Patience patience;
    private final Deadline deadline;
    private final long startedNanos;
    private final Runnable waker;

    private Stage stage = Stage.AT_GATE;
    private boolean atGate;
    private volatile boolean insideGate;
    private @Nullable QueuePlace place;
    private @Nullable Polling polling;
    private RingingStore.@Nullable Bell bell;
    private volatile boolean rung;
    private long pauseEndNanos;
    private @Nullable LockException trouble; // why the store could not be asked last time
    private boolean hasWaited;
    private boolean longWaitSaid;
    private @Nullable HeldLease lease;

    Acquisition(Client client, LockTerms terms, Patience patience, Deadline deadline, Runnable waker) {
        super(terms.demand());
        this.client = client;
        this.terms = terms;
        this.patience = patience;
        this.deadline = deadline;
        this.startedNanos = client.time().nanoTime();
        this.waker = waker;
    }

    /**
     * Goes as far as it can without waiting; true when it is over. Throws if it failed; then nothing is left of it.
     */
    boolean advance() {
        try {
            boolean over = step();
            if (!over && !hasWaited) {
                hasWaited = true;
                client.waits().add(this);
                if (client.isClosed()) {
                    over = step();
                }
            }
            if (over) {
                end();
            }
            return over;
        } catch (RuntimeException | Error e) {
            abandon("failed: " + e.getMessage());
            discardUntaken();
            end();
            throw e;
        }
    }

    /** It failed after the grant: the caller will never see the lease, so nobody else would give it back. */
    private void discardUntaken() {
        HeldLease untaken = takeLease();
        if (untaken != null) {
            untaken.discard();
        }
    }

    /** The lease once it is over, or null if it ended without one. Given away: only the user may refer to it. */
    @Nullable
    HeldLease takeLease() {
        HeldLease taken = lease;
        lease = null;
        return taken;
    }

    /** When to advance again even if nobody wakes it. */
    long wakeAtNanos() {
        long at = deadline.atNanos();
        if (stage == Stage.PAUSED && pauseEndNanos - at < 0) {
            at = pauseEndNanos;
        }
        long longWait = longWaitNanos();
        return !longWaitSaid && longWait - at < 0 ? longWait : at;
    }

    /** Gives up: leaves the gate and the line; nothing is held. */
    void abandon(String why) {
        if (stage == Stage.OVER) {
            return;
        }
        Stage left = stage;
        stage = Stage.OVER;
        leaveLine();
        if (left == Stage.AT_GATE && atGate) {
            insideGate = !terms.site().gate.withdraw(this);
            giveBackInherited();
        }
        leaveGate();
        end();
        client.events().publish(() -> new LockEvent.Unsuccessful(terms.name(), why, waited()));
    }

    /** Steps out of the gate, once, when the lease has ended or there is none to come. */
    void leaveGate() {
        if (insideGate) {
            insideGate = false;
            terms.site().gate.leave(this);
        }
    }

    /** Leaves the grant to the next one at the gate. False if nobody there wants it. */
    boolean handOver(Holding holding) {
        if (insideGate && terms.site().gate.handOver(this, holding)) {
            insideGate = false;
            return true;
        }
        return false;
    }

    /** A second entry standing where this one stood, for a lease that goes on as a shared one. */
    Acquisition downgraded(LockTerms sharedTerms) {
        Acquisition shared = new Acquisition(client, sharedTerms, patience, deadline, waker);
        shared.stage = Stage.OVER;
        if (insideGate) {
            insideGate = false;
            shared.insideGate = true;
            terms.site().gate.downgrade(this, shared);
        }
        return shared;
    }

    @Override
    void wake() {
        waker.run();
    }

    @Override
    boolean accepts(Holding warm) {
        return terms.options().fairness() == Fairness.BALANCED
                && warm.renewal() == terms.options().renewal()
                && warm.grant().request().demand().equals(demand)
                && warm.grant().request().ttl().equals(terms.options().ttl());
    }

    LockTerms terms() {
        return terms;
    }

    Duration waited() {
        return Duration.ofNanos(now() - startedNanos);
    }

    private boolean step() {
        while (true) {
            if (stage != Stage.OVER) {
                client.requireOpen(terms.name());
                sayLongWait();
            }
            switch (stage) {
                case AT_GATE -> {
                    if (!passGate()) {
                        return stage == Stage.OVER;
                    }
                }
                case ASKING -> {
                    client.beginRequest();
                    try {
                        client.requireOpen(terms.name());
                        ask();
                    } finally {
                        client.endRequest();
                    }
                }
                case QUEUED -> {
                    if (!hear()) {
                        return stage == Stage.OVER;
                    }
                }
                case PAUSED -> {
                    if (giveUpIfLate("the lock stayed taken")) {
                        return true;
                    }
                    if (!rung && pauseEndNanos - now() > 0) {
                        return false;
                    }
                    stage = Stage.ASKING;
                }
                case OVER -> {
                    return true;
                }
            }
        }
    }

    /** Whether it is through the gate. */
    private boolean passGate() {
        if (!atGate) {
            client.events().publish(() -> new LockEvent.Requested(terms.name(), terms.demand()));
        }
        if (!terms.usesGate()) {
            stage = Stage.ASKING;
            return true;
        }
        Gate<Holding> gate = terms.site().gate;
        boolean inside;
        if (atGate) {
            inside = gate.proceed(this);
        } else if (patience == Patience.ONCE) {
            inside = gate.tryEnter(this);
        } else {
            inside = gate.enter(this, startedNanos);
            atGate = !inside;
        }
        if (inside) {
            insideGate = true;
            stage = Stage.ASKING;
            return true;
        }
        if (patience == Patience.ONCE) {
            abandon("another thread of this client has it or waits for it");
            return false;
        }
        giveUpIfLate("the lock stayed taken by this client");
        return false;
    }

    private void ask() {
        Holding inherited = takeInherited();
        if (inherited != null) {
            if (accepts(inherited) && inherited.isSurelyValid(now())) {
                takeOver(inherited);
                return;
            }
            inherited.end(Duration.ZERO, now());
        }
        if (hasWaited && giveUpIfLate("the lock stayed taken")) {
            return;
        }
        listen();
        rung = false;
        Request request = client.newRequest(terms);
        long askedNanos = now();
        Answer answer;
        try {
            answer = request(request, askedNanos);
        } catch (StoreUnavailableException e) {
            place = null;
            rideOut(e);
            return;
        } catch (UnsupportedLockException e) {
            place = null;
            throw e;
        } catch (RuntimeException e) {
            undo(request);
            rideOut(e);
            return;
        } catch (Error e) {
            undo(request);
            throw e;
        }
        trouble = null;
        terms.site().outage.isOver();
        if (answer instanceof Answer.Granted granted) {
            place = null;
            if (wasExtendedBefore(granted.grant(), askedNanos)) {
                confirm(granted.grant());
            } else {
                complete(granted.grant());
            }
        } else if (answer instanceof Answer.Refused refusal) {
            pause(refusal);
        } else if (answer instanceof Answer.Queued queued) {
            placeInLine().confirmed(queued.ticket());
            client.keeper().keep(placeInLine());
            stage = Stage.QUEUED;
        }
    }

    /** The request may have been applied, and a push may be on its way: nothing of it must stay. */
    private void undo(Request request) {
        QueuePlace uncertain = place;
        place = null;
        if (uncertain != null && uncertain.stopListening() instanceof QueuePlace.Arrived arrived) {
            client.errands().release(arrived.grant());
        } else {
            client.errands().undo(request);
        }
    }

    private Answer request(Request request, long nowNanos) {
        LockStore store = client.store();
        Deadline limit = patience == Patience.ONCE
                ? client.requestDeadline(nowNanos)
                : client.requestDeadline(deadline, nowNanos);
        if (patience != Patience.ONCE && terms.poll() == null && store instanceof QueueingStore queueing) {
            QueuePlace newPlace = new QueuePlace(client, request, waker);
            place = newPlace;
            return queueing.enqueue(request, newPlace, limit);
        }
        return store.attempt(request, limit);
    }

    /** Looks for news of the place in line. Whether there is something to do at once. */
    private boolean hear() {
        QueuePlace.News news = placeInLine().news();
        if (news instanceof QueuePlace.Arrived arrived) {
            client.keeper().drop(placeInLine());
            place = null;
            confirm(arrived.grant());
            return true;
        }
        if (news instanceof QueuePlace.PlaceLost) {
            leaveLine();
            stage = Stage.ASKING;
            return !giveUpIfLate("the place in line was lost");
        }
        giveUpIfLate("the lock stayed taken");
        return false;
    }

    /** On stores with sessions a grant has the session's base; a lease nobody renews is owed its whole ttl. */
    private boolean wasExtendedBefore(Grant grant, long askedNanos) {
        return terms.options().renewal() == Renewal.NONE && grant.baseNanos() - askedNanos < 0;
    }

    /** A pushed grant may have been long on its way: is enough of it left, and will anybody renew it? */
    private void confirm(Grant grant) {
        if (deadline.hasPassed()) {
            client.errands().release(grant);
            abandon("the lock came too late");
            return;
        }
        boolean renewed = terms.options().renewal() == Renewal.AUTO;
        long now = now();
        long left = client.validity().endNanos(grant.baseNanos(), grant.ttl()) - now;
        if (renewed && left > grant.ttl().toNanos() / 2) {
            complete(grant);
            return;
        }
        try {
            RenewalAnswer answer = client.store()
                    .renew(List.of(new RenewalRequest(grant, grant.ttl())), client.requestDeadline(deadline, now))
                    .get(0);
            if (answer instanceof RenewalAnswer.Extended extended) {
                complete(new Grant(
                        grant.request(), grant.token(), extended.ttl(), extended.baseNanos(), grant.handle()));
            } else if (answer instanceof RenewalAnswer.Unsettled unsettled) {
                throw unsettled.cause();
            } else {
                stage = Stage.ASKING;
            }
        } catch (RuntimeException e) {
            client.errands().release(grant);
            rideOut(e);
        } catch (Error e) {
            client.errands().release(grant);
            throw e;
        }
    }

    private void complete(Grant grant) {
        long now = now();
        Holding holding = new Holding(client, grant, terms.options().renewal(), now);
        if (holding.storeEndNanos() - now <= 0) {
            client.errands().release(grant);
            rideOut(new StoreUnavailableException(terms.name(), "its answer took longer than the ttl"));
            return;
        }
        LeaseLife life = new LeaseLife(client, holding, this, now);
        client.keeper().keep(holding);
        lease = life.newHandle();
        stage = Stage.OVER;
        client.loseIfReportedBefore(holding);
        client.events().publish(() -> new LockEvent.Granted(terms.name(), life.token(), waited()));
    }

    private void takeOver(Holding inherited) {
        long now = now();
        inherited.takeOver();
        LeaseLife life = new LeaseLife(client, inherited, this, now);
        // Again: this lease may end, or be due, before the next walk that was planned for the one before.
        client.keeper().keep(inherited);
        lease = life.newHandle();
        stage = Stage.OVER;
        if (!inherited.isSurelyValid(now)) {
            // It ended between the check and now, when it had no lease to tell.
            life.expire();
        }
        client.events().publish(() -> new LockEvent.HandedOver(terms.name(), life.token(), waited()));
    }

    private void pause(Answer.Refused refusal) {
        if (patience == Patience.ONCE) {
            abandon(refusal.reason());
            return;
        }
        Polling turns = polling;
        if (turns == null) {
            turns = new Polling(
                    terms.poll() != null
                            ? terms.poll()
                            : client.store().traits().poll());
            polling = turns;
        }
        if (!turns.mayAskAgain() && patience == Patience.LIMITED) {
            abandon("taken at every try: " + refusal.reason());
            return;
        }
        pauseEndNanos = now() + turns.nextPauseNanos(longestPauseNanos(refusal));
        stage = Stage.PAUSED;
    }

    private long longestPauseNanos(Answer.Refused refusal) {
        long untilExpiry = refusal.holderTimeLeft().map(Deadline::nanosOf).orElse(Long.MAX_VALUE);
        boolean storePaces = !terms.pollsAsUserSays();
        return storePaces && refusal.askAgain().isPresent()
                ? Math.min(untilExpiry, Deadline.nanosOf(refusal.askAgain().get()))
                : untilExpiry;
    }

    /** Before the first request: what becomes free between a refusal and listening nobody would hear of. */
    private void listen() {
        if (bell == null && patience != Patience.ONCE && client.store() instanceof RingingStore ringing) {
            bell = ringing.listen(terms.name(), terms.demand(), this::ring);
        }
    }

    private void ring() {
        rung = true;
        waker.run();
    }

    /** The store is away. Those who have waited go on waiting for a while; everybody else is told. */
    private void rideOut(RuntimeException failure) {
        if (!(failure instanceof LockException known)) {
            throw failure;
        }
        if (polling != null && trouble == null && deadline.hasPassed()) {
            // The caller's own deadline cut this poll short; the one before it was refused, so the store is not away.
            abandon("the lock stayed taken");
            return;
        }
        long now = now();
        long ttlNanos = terms.options().ttl().toNanos();
        trouble = known;
        long lasted = terms.site().outage.lastsNanos(now, ttlNanos);
        if (!hasWaited || lasted > ttlNanos || deadline.hasPassed()) {
            throw known;
        }
        place = null;
        pauseEndNanos = now + Math.min(ttlNanos / 30, LONGEST_OUTAGE_PAUSE_NANOS);
        stage = Stage.PAUSED;
    }

    /** Ends the wait at its deadline: without a lease, or with the trouble that kept it from one. */
    private boolean giveUpIfLate(String why) {
        if (!deadline.hasPassed()) {
            return false;
        }
        if (trouble != null) {
            throw trouble;
        }
        abandon(why);
        return true;
    }

    private void leaveLine() {
        QueuePlace left = place;
        if (left == null) {
            return;
        }
        place = null;
        QueuePlace.News last = left.stopListening();
        if (last instanceof QueuePlace.Arrived arrived) {
            client.errands().release(arrived.grant());
        } else {
            client.errands().leaveLine(left.request());
        }
        client.keeper().drop(left);
    }

    private void giveBackInherited() {
        Holding inherited = takeInherited();
        if (inherited != null) {
            inherited.endInBackground(Duration.ZERO);
        }
    }

    /** What has to be undone however the acquisition ends. */
    private void end() {
        if (hasWaited) {
            client.waits().remove(this);
        }
        RingingStore.Bell listening = bell;
        if (listening != null) {
            bell = null;
            try {
                listening.close();
            } catch (RuntimeException | Error e) {
                LOG.log(Level.WARNING, "Could not stop listening for lock '" + terms.name() + "'", e);
            }
        }
    }

    private void sayLongWait() {
        if (hasWaited && !longWaitSaid && now() - longWaitNanos() >= 0) {
            longWaitSaid = true;
            client.sayLongWait(terms.name(), waited());
        }
    }

    private long longWaitNanos() {
        return startedNanos + Deadline.nanosOf(client.settings().longWait());
    }

    private QueuePlace placeInLine() {
        return Optional.ofNullable(place).orElseThrow();
    }

    private long now() {
        return client.time().nanoTime();
    }
}
