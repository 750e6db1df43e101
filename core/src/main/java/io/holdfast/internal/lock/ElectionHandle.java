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
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/*
 * One candidate, however many campaign through it.
 *
 *   following ── first campaign ──► acquisition set ── granted ──► leadership set
 *       ▲                               │                             │
 *       ├── all campaigns given up ◄────┘                             │
 *       └── resigned, deposed ◄───────────────────────────────────────┘
 *   any ── close ──► closed
 *
 * A second campaign beside the first would wait behind the leadership that the first one wins, and win it when that is resigned.
 * So campaigns share one acquisition, and all that are pending win together. A grant that finds no campaign pending, because the
 * last one was cancelled at that very moment, goes back, and neither elected nor deposed is told. Unless a campaign began between
 * the two and was told that this election leads: the claims count those.
 *
 * What is told: once a campaign has won, onElected is called while the leadership lasts, and onDeposed once at its end, if it was
 * not resigned. Callbacks run one after the other, so that the end is not heard before the beginning.
 */

/** An election of this client: a lock whose lease is the leadership. Thread-safe. */
public final class ElectionHandle implements Election {

    private static final Logger LOG = System.getLogger(ElectionHandle.class.getName());

    /** A store that is away is asked this often at least by one who has led. */
    private static final Duration LONGEST_REST = Duration.ofSeconds(1);

    /** No epoch is negative. */
    private static final long TIMED_OUT = -1;

    private final Acquisitions acquisitions;
    private final Callbacks.InOrder callbacks;
    private final LockHandle lock;
    private final List<LongConsumer> electedCallbacks = new CopyOnWriteArrayList<>();
    private final List<Consumer<Loss>> deposedCallbacks = new CopyOnWriteArrayList<>();

    private final ReentrantLock guard = new ReentrantLock();
    // All below guarded by guard.
    private boolean closed;
    private final Set<CompletableFuture<Long>> campaigns = new HashSet<>();
    private @Nullable CompletableFuture<Lease> acquisition; // while there are campaigns
    private @Nullable Lease leadership;
    private int claims; // campaigns that found this leading, and so did not ask for it
    private final Set<LeaderTerm> terms = new HashSet<>();

    public ElectionHandle(Acquisitions acquisitions, Callbacks callbacks, LockHandle lock) {
        this.acquisitions = acquisitions;
        this.callbacks = callbacks.lossesInOrder();
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
        Alarm alarm = acquisitions
                .timer()
                .at(acquisitions.upTo(maxWait).deadline().atNanos(), () -> campaign.complete(TIMED_OUT));
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
        if (!win(lease.get(), 1, () -> !closed)) {
            throw closed();
        }
        return OptionalLong.of(lease.get().token());
    }

    /** The epoch for one more that campaigns, if this leads. */
    private OptionalLong claim() {
        return guarded(() -> {
            if (closed) {
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
        CompletableFuture<Lease> begun = null;
        guard.lock();
        try {
            OptionalLong leading = claim();
            if (leading.isPresent()) {
                campaign.complete(leading.getAsLong());
                return campaign;
            }
            if (acquisition == null) {
                leadership = null;
                begun = lock.acquireAsync();
                acquisition = begun;
            }
            campaigns.add(campaign);
        } catch (CancellationException closed) {
            campaign.completeExceptionally(closed);
            return campaign;
        } finally {
            guard.unlock();
        }
        if (begun != null) {
            CompletableFuture<Lease> asked = begun;
            asked.whenComplete((lease, failure) -> settle(asked, lease, failure));
        }
        campaign.whenComplete((epoch, failure) -> giveUp(campaign));
        return campaign;
    }

    /** The user cancelled it, or its time is over. The last one takes the acquisition along. */
    private void giveUp(CompletableFuture<Long> campaign) {
        cancel(guarded(() -> campaigns.remove(campaign) && campaigns.isEmpty()
                ? takeAcquisition()
                : Optional.<CompletableFuture<Lease>>empty()));
    }

    private void settle(CompletableFuture<Lease> asked, @Nullable Lease lease, @Nullable Throwable failure) {
        if (lease != null) {
            win(lease, 0, () -> acquisition == asked);
            return;
        }
        List<CompletableFuture<Long>> pending = guarded(() -> {
            boolean failed = acquisition == asked;
            acquisition = failed ? null : acquisition;
            return failed ? takeCampaigns() : List.of();
        });
        pending.forEach(campaign -> campaign.completeExceptionally(failure));
    }

    /**
     * Makes a new lease the leadership of all that campaign. If none of them waits any more, and none has claimed it meanwhile, it
     * goes back.
     *
     * @param claimed how many know of it already
     * @param wanted whether it may become that; asked with the guard held. If not it goes back
     * @return whether it was wanted
     */
    private boolean win(Lease lease, int claimed, BooleanSupplier wanted) {
        List<CompletableFuture<Long>> pending = List.of();
        Optional<CompletableFuture<Lease>> superseded = Optional.empty();
        boolean leads;
        guard.lock();
        try {
            leads = wanted.getAsBoolean();
            if (leads) {
                leadership = lease;
                claims = claimed;
                pending = takeCampaigns();
                superseded = takeAcquisition();
            }
        } finally {
            guard.unlock();
        }
        cancel(superseded);
        int winners = claimed;
        for (CompletableFuture<Long> campaign : pending) {
            winners += campaign.complete(lease.token()) ? 1 : 0;
        }
        if (leads && (winners > 0 || isClaimed(lease))) {
            tellElected(lease);
        } else {
            giveBack(lease);
        }
        return leads;
    }

    /** Whether a campaign has found this leading by that lease. If not, it leads no more. */
    private boolean isClaimed(Lease lease) {
        return guarded(() -> {
            boolean claimed = leadership == lease && claims > 0;
            if (!claimed) {
                forget(lease);
            }
            return claimed;
        });
    }

    /** With the guard held. */
    private void forget(Lease lease) {
        leadership = leadership == lease ? null : leadership;
    }

    /** With the guard held. */
    private List<CompletableFuture<Long>> takeCampaigns() {
        List<CompletableFuture<Long>> taken = List.copyOf(campaigns);
        campaigns.clear();
        return taken;
    }

    /** With the guard held. */
    private Optional<CompletableFuture<Lease>> takeAcquisition() {
        Optional<CompletableFuture<Lease>> taken = Optional.ofNullable(acquisition);
        acquisition = null;
        return taken;
    }

    private static void cancel(Optional<CompletableFuture<Lease>> unwanted) {
        unwanted.ifPresent(asked -> asked.cancel(true));
    }

    /** A lease that no campaign has won: at once, whatever its shortest hold, and without waiting for the store. */
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
        guarded(() -> {
            Lease lost = leadership;
            if (lost != null && lost.token() == loss.token()) {
                forget(lost);
            }
            return lost;
        });
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

    /** A store that is away is the usual reason for a loss, so one that has led goes on asking. */
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
        Optional<CompletableFuture<Lease>> unwanted;
        guard.lock();
        try {
            closed = true;
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
