package io.holdfast.internal;

import io.holdfast.LeaseLostException;
import io.holdfast.LockEvent;
import io.holdfast.LockException;
import io.holdfast.LossReason;
import io.holdfast.ReleaseResult;
import io.holdfast.Renewal;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.spi.Deadline;
import io.holdfast.spi.DowngradingStore;
import io.holdfast.spi.Grant;
import io.holdfast.spi.OwnerId;
import io.holdfast.spi.ReleaseAnswer;
import io.holdfast.spi.RenewalAnswer;
import io.holdfast.spi.RenewalRequest;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A store's grant in this client's hands. One lease uses it; when that is released, another may take it over with the
 * next local number, and the store knows nothing of it. Thread-safe.
 */
final class Holding implements Kept {

    private static final Logger LOG = System.getLogger(Holding.class.getName());

    /** The local number takes the token's lowest 10 bits. */
    private static final int LOCAL_BITS = 10;

    private final Client client;
    private final Grant grant;
    private final Renewal renewal;
    private final long grantedNanos;
    /** One permit: requests about this grant never overtake each other. */
    private final Semaphore requests = new Semaphore(1);

    private enum Standing {
        /** As far as we know the store has it. */
        KEPT,
        /** The store has said it is no more: no late answer revives it. */
        GONE
    }

    private volatile Standing standing = Standing.KEPT;
    private volatile @Nullable LeaseLife user;
    private final LocalEnd end;
    private volatile long dueNanos;
    private int localNumber; // belongs to the lease in use, then to whoever inherits through the gate

    Holding(Client client, Grant grant, Renewal renewal, long nowNanos) {
        this.client = client;
        this.grant = grant;
        this.renewal = renewal;
        this.grantedNanos = nowNanos;
        this.end = new LocalEnd(client.validity().endNanos(grant.baseNanos(), grant.ttl()));
        this.dueNanos = nextDue(grant.baseNanos());
    }

    /** The store's token as users see it: room below it for local handoffs. */
    static long userToken(long storeToken) {
        return storeToken << LOCAL_BITS;
    }

    Grant grant() {
        return grant;
    }

    Renewal renewal() {
        return renewal;
    }

    /** The token of the lease that uses this now. */
    long token() {
        return userToken(grant.token()) + localNumber;
    }

    /** When the grant ends locally, whoever uses it. */
    long storeEndNanos() {
        return end.nanos();
    }

    /** Whether the grant has ended locally. Once true it stays so: no answer that comes later revives it. */
    boolean hasRunOut(long nowNanos) {
        return end.hasPassed(nowNanos);
    }

    void usedBy(@Nullable LeaseLife lease) {
        user = lease;
    }

    /** Whether another thread of this client may go on with it before the store passes it on. */
    boolean mayBeHandedOn(long nowNanos) {
        return renewal == Renewal.AUTO
                && localNumber < client.settings().maxHandoffs()
                && nowNanos - grantedNanos < Deadline.nanosOf(client.settings().maxHandoffTime())
                && isSurelyValid(nowNanos);
    }

    boolean isGone() {
        return standing == Standing.GONE;
    }

    /** With time to spare: renewals come every third of the ttl, so with less than half left they are failing. */
    boolean isSurelyValid(long nowNanos) {
        return standing == Standing.KEPT && end.nanos() - nowNanos > grant.ttl().toNanos() / 2;
    }

    /** Goes on under a new lease, with the next local number. */
    void takeOver() {
        localNumber++;
    }

    /** The same grant as a shared one, for a lease that has just been downgraded. */
    Holding downgrade(DowngradingStore store) {
        Deadline deadline = client.requestDeadline();
        if (!awaitRequests(deadline)) {
            throw new UnknownOutcomeException(name(), "an earlier renewal is still under way");
        }
        try {
            // Not dropped from the keeper: the shared one, kept under the same owner, takes its place there.
            Holding shared = new Holding(
                    client,
                    store.downgrade(grant, deadline),
                    renewal,
                    client.time().nanoTime());
            shared.localNumber = localNumber;
            return shared;
        } finally {
            requests.release();
        }
    }

    /** Gives the grant back to the store, on this thread. */
    ReleaseResult end(Duration linger, long nowNanos) {
        client.beginRequest();
        try {
            client.keeper().drop(this);
            return endNow(linger, client.requestDeadline(nowNanos));
        } finally {
            client.endRequest();
        }
    }

    /** Gives the grant back to the store without waiting for it. */
    void endInBackground(Duration linger) {
        // In this order: close waits for what is kept and for errands, and must not find neither.
        client.errands().release(grant, linger, end.nanos());
        client.keeper().drop(this);
    }

    private ReleaseResult endNow(Duration linger, Deadline deadline) {
        if (!awaitRequests(deadline)) {
            client.errands().release(grant, linger, end.nanos());
            return ReleaseResult.PENDING;
        }
        try {
            ReleaseAnswer answer = client.store().release(grant, linger, deadline);
            return answer == ReleaseAnswer.RELEASED ? ReleaseResult.RELEASED : ReleaseResult.ALREADY_LOST;
        } catch (RuntimeException e) {
            // Also what a store should not throw: whatever happens, the lease ends and the next thread gets its turn.
            LOG.log(Level.DEBUG, () -> "Releasing lock '" + name() + "' failed, trying again: " + e);
            client.errands().release(grant, linger, end.nanos());
            return ReleaseResult.PENDING;
        } catch (Error e) {
            client.errands().release(grant, linger, end.nanos());
            throw e;
        } finally {
            requests.release();
        }
    }

    /** Asks the store for at least that long from now, on this thread. */
    void extend(Duration atLeast) {
        Deadline deadline = client.requestDeadline();
        if (!awaitRequests(deadline)) {
            throw new UnknownOutcomeException(name(), "an earlier renewal is still under way");
        }
        RenewalAnswer answer;
        try {
            answer = client.store()
                    .renew(List.of(new RenewalRequest(grant, atLeast)), deadline)
                    .get(0);
            if (answer instanceof RenewalAnswer.Extended extended) {
                extended(extended);
            }
        } finally {
            requests.release();
        }
        if (answer instanceof RenewalAnswer.Unsettled unsettled) {
            throw unsettled.cause();
        }
        if (answer instanceof RenewalAnswer.Gone gone) {
            client.keeper().drop(this);
            gone(LossReason.GONE, gone.reason());
            throw new LeaseLostException(name(), token(), gone.reason());
        }
    }

    @Override
    public OwnerId owner() {
        return grant.request().owner();
    }

    @Override
    public String lane() {
        return client.store().lane(name());
    }

    @Override
    public long dueNanos() {
        return dueNanos;
    }

    @Override
    public long endNanos() {
        LeaseLife lease = user;
        return lease == null ? end.nanos() : lease.endNanos();
    }

    @Override
    public long slackNanos() {
        return grant.ttl().toNanos() / 30;
    }

    @Override
    public boolean beginRequest() {
        return renewal == Renewal.AUTO && requests.tryAcquire();
    }

    @Override
    public void finishRequest() {
        requests.release();
    }

    @Override
    public RenewalRequest renewalRequest() {
        return new RenewalRequest(grant, grant.ttl());
    }

    @Override
    public void extended(RenewalAnswer.Extended answer) {
        if (!end.extendTo(client.validity().endNanos(answer.baseNanos(), answer.ttl()))) {
            return; // its holder knows that it is over
        }
        dueNanos = nextDue(answer.baseNanos());
        client.events().publish(() -> new LockEvent.Renewed(name(), token(), left()));
    }

    @Override
    public void failing(LockException cause) {
        dueNanos = client.time().nanoTime() + slackNanos();
        client.events().publish(() -> new LockEvent.RenewalFailing(name(), token(), left(), cause));
    }

    @Override
    public boolean gone(LossReason reason, String detail) {
        standing = Standing.GONE;
        LeaseLife lease = user;
        // Without a lease it lies at the gate: whoever inherits it sees that it is not surely valid.
        return lease == null || lease.lose(reason, detail);
    }

    @Override
    public void ended() {
        LeaseLife lease = user;
        if (lease != null) {
            lease.expire();
        }
    }

    /** The client closes: a lease in use ends, what lies at the gate goes back. */
    void closeWithClient() {
        LeaseLife lease = user;
        if (lease == null) {
            // Somebody may be about to inherit it: either we see its lease now, or it sees that this is gone.
            standing = Standing.GONE;
            lease = user;
        }
        if (lease != null) {
            lease.lose(LossReason.CLOSED, "its client was closed");
        } else {
            endInBackground(Duration.ZERO);
        }
    }

    private long nextDue(long baseNanos) {
        return renewal == Renewal.AUTO
                ? client.renewalDue(baseNanos, grant.ttl())
                : client.never().atNanos();
    }

    private String name() {
        return grant.request().name();
    }

    private Duration left() {
        return Duration.ofNanos(Math.max(0, endNanos() - client.time().nanoTime()));
    }

    /** Waits for a renewal under way, uninterruptibly: release must not be cut short. */
    private boolean awaitRequests(Deadline deadline) {
        if (requests.tryAcquire()) {
            return true;
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return requests.tryAcquire(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
