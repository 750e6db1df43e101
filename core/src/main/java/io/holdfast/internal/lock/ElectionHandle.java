package io.holdfast.internal.lock;

import io.holdfast.Election;
import io.holdfast.Lease;
import io.holdfast.LeaseWork;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.Loss;
import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.lease.HeldLease;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.spi.StoreContext.Alarm;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * One candidate, however many campaign through it.
 *
 *   FOLLOWING ── first campaign ──► CAMPAIGNING ── granted ──► LEADING
 *       ▲                               │                         │
 *       ├── all campaigns given up ◄────┘                         │
 *       └── resigned, deposed ◄───────────────────────────────────┘
 *   any ── close ──► CLOSED
 *
 * A second campaign beside the first would wait behind the leadership that the first one wins, and win it when that is resigned.
 * So campaigns share one acquisition, and all that are pending win together. A grant that finds no campaign pending, because the
 * last one was cancelled at that very moment, is given back as if it had never been: nobody was elected, and nobody is told. Unless
 * somebody asked between the two and was told that this election leads: the claims count those.
 *
 * What is told: once somebody has won a leadership, those who want to hear of elections are told while it lasts, and its end is
 * told once, if it was not ended by hand. Callbacks run one after the other, so that nobody hears of the end before the beginning.
 */

/** An election of this client: a lock whose lease is the leadership. Thread-safe. */
public final class ElectionHandle implements Election {

    private static final Logger LOG = System.getLogger(ElectionHandle.class.getName());

    /** A store that is away is asked this often at least by one who has led. */
    private static final Duration LONGEST_REST = Duration.ofSeconds(1);

    /** No epoch is negative. */
    private static final long TIMED_OUT = -1;

    private enum State {
        FOLLOWING,
        CAMPAIGNING,
        LEADING,
        CLOSED
    }

    private final Acquisitions acquisitions;
    private final Callbacks.InOrder callbacks;
    private final LockHandle lock;
    private final List<LongConsumer> electedCallbacks = new CopyOnWriteArrayList<>();
    private final List<Consumer<Loss>> deposedCallbacks = new CopyOnWriteArrayList<>();

    private final ReentrantLock guard = new ReentrantLock();
    // All below guarded by guard.
    private State state = State.FOLLOWING;
    private final Set<CompletableFuture<Long>> campaigns = new HashSet<>();
    private @Nullable CompletableFuture<Lease> acquisition;
    private @Nullable Lease leadership;
    private int claims; // of those who were told, besides the ones who campaigned for it, that this leads
    private final Set<LeaderTerm> terms = new HashSet<>();

    public ElectionHandle(Acquisitions acquisitions, Callbacks callbacks, LockHandle lock) {
        this.acquisitions = acquisitions;
        this.callbacks = callbacks.inOrder();
        this.lock = lock;
    }

    @Override
    public String name() {
        return lock.name();
    }

    @Override
    public LockOptions options() {
        return lock.options();
    }

    @Override
    public long campaign() throws InterruptedException {
        return await(campaignAsync());
    }

    @Override
    public OptionalLong campaign(Duration maxWait) throws InterruptedException {
        if (maxWait.isNegative() || maxWait.isZero()) {
            return campaignOnce();
        }
        CompletableFuture<Long> campaign = campaignAsync();
        Alarm alarm =
                acquisitions.timer().at(acquisitions.upTo(maxWait).deadline().atNanos(), () -> campaign.complete(TIMED_OUT));
        try {
            long epoch = await(campaign);
            return epoch == TIMED_OUT ? OptionalLong.empty() : OptionalLong.of(epoch);
        } finally {
            alarm.cancel();
        }
    }

    /** Asks once and does not queue. */
    private OptionalLong campaignOnce() {
        OptionalLong leading = claim();
        if (leading.isPresent()) {
            return leading;
        }
        Optional<Lease> lease = lock.tryAcquire();
        if (lease.isEmpty()) {
            return OptionalLong.empty();
        }
        List<CompletableFuture<Long>> alsoWon;
        CompletableFuture<Lease> superseded;
        guard.lock();
        try {
            if (state == State.CLOSED) {
                giveBack(lease.get());
                throw closed();
            }
            state = State.LEADING;
            leadership = lease.get();
            claims = 1;
            alsoWon = takeCampaigns();
            superseded = takeAcquisition();
        } finally {
            guard.unlock();
        }
        cancel(superseded);
        alsoWon.forEach(campaign -> campaign.complete(lease.get().token()));
        tellElected(lease.get());
        return OptionalLong.of(lease.get().token());
    }

    /** The epoch for one more who campaigned, if this leads. */
    private OptionalLong claim() {
        return guarded(() -> {
            if (state == State.CLOSED) {
                throw closed();
            }
            OptionalLong epoch = epoch();
            claims += epoch.isPresent() ? 1 : 0;
            return epoch;
        });
    }

    private <T> T guarded(Supplier<T> work) {
        guard.lock();
        try {
            return work.get();
        } finally {
            guard.unlock();
        }
    }

    private static long await(CompletableFuture<Long> campaign) throws InterruptedException {
        try {
            return campaign.get();
        } catch (InterruptedException e) {
            campaign.cancel(true);
            throw e;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public CompletableFuture<Long> campaignAsync() {
        CompletableFuture<Long> campaign = new CompletableFuture<>();
        CompletableFuture<Lease> asked = null;
        guard.lock();
        try {
            OptionalLong leading = claim();
            if (leading.isPresent()) {
                campaign.complete(leading.getAsLong());
                return campaign;
            }
            campaigns.add(campaign);
            if (state != State.CAMPAIGNING) {
                state = State.CAMPAIGNING;
                leadership = null;
                asked = lock.acquireAsync();
                acquisition = asked;
            }
        } catch (CancellationException closed) {
            campaign.completeExceptionally(closed);
            return campaign;
        } finally {
            guard.unlock();
        }
        if (asked != null) {
            CompletableFuture<Lease> begun = asked;
            begun.whenComplete((lease, failure) -> settle(begun, lease, failure));
        }
        campaign.whenComplete((epoch, failure) -> giveUp(campaign));
        return campaign;
    }

    /** Somebody else completed it: cancelled or timed out. The last one takes the acquisition along. */
    private void giveUp(CompletableFuture<Long> campaign) {
        CompletableFuture<Lease> unwanted = null;
        guard.lock();
        try {
            if (campaigns.remove(campaign) && campaigns.isEmpty() && state == State.CAMPAIGNING) {
                state = State.FOLLOWING;
                unwanted = takeAcquisition();
            }
        } finally {
            guard.unlock();
        }
        cancel(unwanted);
    }

    private void settle(CompletableFuture<Lease> asked, @Nullable Lease lease, @Nullable Throwable failure) {
        List<CompletableFuture<Long>> pending = List.of();
        boolean wanted;
        guard.lock();
        try {
            wanted = acquisition == asked;
            if (wanted) {
                acquisition = null;
                pending = takeCampaigns();
                state = lease == null ? State.FOLLOWING : State.LEADING;
                leadership = lease;
                claims = 0;
            }
        } finally {
            guard.unlock();
        }
        if (failure != null) {
            pending.forEach(campaign -> campaign.completeExceptionally(failure));
        } else if (lease != null && wanted) {
            award(lease, pending);
        } else if (lease != null) {
            giveBack(lease);
        }
    }

    /** Whoever still waits has won. If that is nobody, and nobody has claimed it meanwhile, nobody was elected. */
    private void award(Lease lease, List<CompletableFuture<Long>> pending) {
        int winners = 0;
        for (CompletableFuture<Long> campaign : pending) {
            winners += campaign.complete(lease.token()) ? 1 : 0;
        }
        boolean won;
        guard.lock();
        try {
            won = winners > 0 || (leadership == lease && claims > 0);
            if (!won) {
                forget(lease);
            }
        } finally {
            guard.unlock();
        }
        if (won) {
            tellElected(lease);
        } else {
            giveBack(lease);
        }
    }

    /** With the guard held. */
    private void forget(Lease lease) {
        if (leadership == lease) {
            leadership = null;
            state = state == State.LEADING ? State.FOLLOWING : state;
        }
    }

    /** With the guard held. */
    private List<CompletableFuture<Long>> takeCampaigns() {
        List<CompletableFuture<Long>> taken = List.copyOf(campaigns);
        campaigns.clear();
        return taken;
    }

    /** With the guard held. */
    private @Nullable CompletableFuture<Lease> takeAcquisition() {
        CompletableFuture<Lease> taken = acquisition;
        acquisition = null;
        return taken;
    }

    private static void cancel(@Nullable CompletableFuture<Lease> unwanted) {
        if (unwanted != null) {
            unwanted.cancel(true);
        }
    }

    /** A lease that was nobody's leadership: at once, whatever its shortest hold, and without waiting for the store. */
    private static void giveBack(Lease lease) {
        if (lease instanceof HeldLease held) {
            held.life().releaseUndeliveredInBackground();
        }
    }

    private boolean isLeadership(Lease lease) {
        return guarded(() -> leadership == lease);
    }

    private void tellElected(Lease lease) {
        long epoch = lease.token();
        electedCallbacks.forEach(callback -> callbacks.tell(() -> {
            if (lease.isValid() && isLeadership(lease)) {
                callback.accept(epoch);
            }
        }));
        // Neither this nor the lease: an election that is dropped while it leads is noticed as a lease that was never
        // closed.
        WeakReference<ElectionHandle> self = new WeakReference<>(this);
        lease.onLost(loss -> {
            ElectionHandle election = self.get();
            if (election != null) {
                election.deposed(loss);
            }
        });
    }

    private void deposed(Loss loss) {
        guard.lock();
        try {
            Lease lost = leadership;
            if (lost != null && lost.token() == loss.token()) {
                forget(lost);
            }
        } finally {
            guard.unlock();
        }
        deposedCallbacks.forEach(callback -> callbacks.tell(() -> callback.accept(loss)));
    }

    @Override
    public <X extends Exception> void lead(LeaseWork<? super Lease, X> work) throws InterruptedException, X {
        boolean hasLed = false;
        while (true) {
            Optional<LeaderTerm> term = hasLed ? termAfterLoss() : beginTerm();
            if (term.isPresent()) {
                hasLed = true;
                try {
                    if (term.get().serve(work) == LeaderTerm.End.DONE) {
                        return;
                    }
                } finally {
                    endTerm(term.get());
                }
            }
        }
    }

    /** Empty if the leadership was over at once. */
    private Optional<LeaderTerm> beginTerm() throws InterruptedException {
        campaign();
        return guarded(() -> {
            Optional<LeaderTerm> term = leadership().map(LeaderTerm::new);
            term.ifPresent(terms::add);
            return term;
        });
    }

    /** A store that is away is the usual reason for a loss: nobody gives up because of it who has led. */
    private Optional<LeaderTerm> termAfterLoss() throws InterruptedException {
        try {
            return beginTerm();
        } catch (StoreUnavailableException | UnknownOutcomeException e) {
            LOG.log(Level.DEBUG, "Election '" + name() + "' cannot campaign, trying again", e);
            CountDownLatch rested = new CountDownLatch(1);
            acquisitions.timer().at(acquisitions.upTo(rest()).deadline().atNanos(), rested::countDown);
            rested.await();
            return Optional.empty();
        }
    }

    private Duration rest() {
        Duration third = options().ttl().dividedBy(3);
        return third.compareTo(LONGEST_REST) < 0 ? third : LONGEST_REST;
    }

    private void endTerm(LeaderTerm term) {
        guarded(() -> terms.remove(term));
        resign(term.lease());
    }

    @Override
    public void close() {
        List<CompletableFuture<Long>> pending;
        CompletableFuture<Lease> unwanted;
        guard.lock();
        try {
            state = State.CLOSED;
            pending = takeCampaigns();
            unwanted = takeAcquisition();
        } finally {
            guard.unlock();
        }
        pending.forEach(campaign -> campaign.completeExceptionally(closed()));
        cancel(unwanted);
        resign();
    }

    private CancellationException closed() {
        return new CancellationException("election '" + name() + "' is closed");
    }

    @Override
    public boolean isLeader() {
        return leadership().isPresent();
    }

    @Override
    public OptionalLong epoch() {
        Optional<Lease> lease = leadership();
        return lease.isPresent() ? OptionalLong.of(lease.get().token()) : OptionalLong.empty();
    }

    @Override
    public Optional<Lease> leadership() {
        return guarded(() -> Optional.ofNullable(leadership).filter(Lease::isValid));
    }

    @Override
    public Optional<LockView.Holder> leader() {
        return inspect().holders().stream().findFirst();
    }

    @Override
    public LockView inspect() {
        return lock.inspect();
    }

    @Override
    public void resign() {
        guarded(() -> Optional.ofNullable(leadership)).ifPresent(this::resign);
    }

    private void resign(Lease lease) {
        List<LeaderTerm> over = guarded(() -> {
            forget(lease);
            return terms.stream().filter(term -> term.lease() == lease).toList();
        });
        over.forEach(LeaderTerm::interruptOther);
        lease.release();
    }

    @Override
    public void onElected(LongConsumer callback) {
        electedCallbacks.add(callback);
    }

    @Override
    public void onDeposed(Consumer<Loss> callback) {
        deposedCallbacks.add(callback);
    }

    @Override
    public String toString() {
        return "Election[" + name() + "]";
    }
}
