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
 * So campaigns share one acquisition, and all that are pending win together. Whoever takes a campaign out of the pending ones, with
 * the guard held, decides how it ends: a grant, a failure, or the user who cancels it. The last that is given up takes the
 * acquisition along. What that was granted at that very moment goes back, and neither elected nor deposed is told.
 *
 * A future is completed after all else is done, and on a thread for callbacks: what hangs on it is the user's, and may go on for as
 * long as the leadership.
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
    private final Callbacks callbacks;
    private final Callbacks.InOrder inOrder;
    private final LockHandle lock;
    private final List<LongConsumer> electedCallbacks = new CopyOnWriteArrayList<>();
    private final List<Consumer<Loss>> deposedCallbacks = new CopyOnWriteArrayList<>();

    private final ReentrantLock guard = new ReentrantLock();
    // All below guarded by guard.
    private boolean closed;
    private final Set<Campaign> campaigns = new HashSet<>(); // those that are pending
    private @Nullable CompletableFuture<Lease> acquisition; // while there are campaigns
    private @Nullable Lease leadership;
    private final Set<LeaderTerm> terms = new HashSet<>();

    public ElectionHandle(Acquisitions acquisitions, Callbacks callbacks, LockHandle lock) {
        this.acquisitions = acquisitions;
        this.callbacks = callbacks;
        this.inOrder = callbacks.lossesInOrder();
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
        OptionalLong leading = epochIfOpen();
        if (leading.isPresent()) {
            return leading;
        }
        Optional<Lease> lease = lock.tryAcquire();
        if (lease.isEmpty()) {
            return OptionalLong.empty();
        }
        if (!win(lease.get(), () -> !closed)) {
            throw closed();
        }
        return OptionalLong.of(lease.get().token());
    }

    /** The epoch for one more that campaigns, if this leads. */
    private OptionalLong epochIfOpen() {
        return guarded(() -> {
            if (closed) {
                throw closed();
            }
            return epoch();
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
            if (campaign.cancel(true)) {
                throw e;
            }
            // It was won, or failed, at that very moment, and is done now.
            Thread.currentThread().interrupt();
            return await(campaign);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public CompletableFuture<Long> campaignAsync() {
        Campaign campaign = new Campaign();
        CompletableFuture<Lease> begun = null;
        guard.lock();
        try {
            OptionalLong leading = epochIfOpen();
            if (leading.isPresent()) {
                return CompletableFuture.completedFuture(leading.getAsLong());
            }
            if (acquisition == null) {
                leadership = null;
                begun = lock.acquireAsync();
                acquisition = begun;
            }
            campaigns.add(campaign);
        } catch (CancellationException closed) {
            return CompletableFuture.failedFuture(closed);
        } finally {
            guard.unlock();
        }
        if (begun != null) {
            CompletableFuture<Lease> asked = begun;
            asked.whenComplete((lease, failure) -> settle(asked, lease, failure));
        }
        return campaign;
    }

    private void settle(CompletableFuture<Lease> asked, @Nullable Lease lease, @Nullable Throwable failure) {
        if (lease != null) {
            win(lease, () -> acquisition == asked);
            return;
        }
        complete(guarded(() -> {
            boolean failed = acquisition == asked;
            acquisition = failed ? null : acquisition;
            return failed ? takeCampaigns(CompletableFuture.failedFuture(failure)) : List.of();
        }));
    }

    /**
     * Makes a new lease the leadership of all that campaign.
     *
     * @param wanted whether it may become that; asked with the guard held. If not it goes back
     * @return whether it was wanted
     */
    private boolean win(Lease lease, BooleanSupplier wanted) {
        List<Campaign> winners = List.of();
        Optional<CompletableFuture<Lease>> superseded = Optional.empty();
        boolean leads;
        guard.lock();
        try {
            leads = wanted.getAsBoolean();
            if (leads) {
                leadership = lease;
                winners = takeCampaigns(CompletableFuture.completedFuture(lease.token()));
                superseded = takeAcquisition();
            }
        } finally {
            guard.unlock();
        }
        cancel(superseded);
        if (leads) {
            tellElected(lease);
        } else {
            giveBack(lease);
        }
        complete(winners);
        return leads;
    }

    /** With the guard held. */
    private void forget(Lease lease) {
        leadership = leadership == lease ? null : leadership;
    }

    /** With the guard held: all that are pending end with that. They are still to be completed. */
    private List<Campaign> takeCampaigns(CompletableFuture<Long> outcome) {
        List<Campaign> taken = List.copyOf(campaigns);
        campaigns.clear();
        taken.forEach(campaign -> campaign.outcome = outcome);
        return taken;
    }

    private void complete(List<Campaign> decided) {
        decided.forEach(campaign -> callbacks.complete(Campaign::deliver, campaign));
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
        electedCallbacks.forEach(callback -> inOrder.tell(() -> {
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
        deposedCallbacks.forEach(callback -> inOrder.tell(() -> callback.accept(loss)));
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
        List<Campaign> pending;
        Optional<CompletableFuture<Lease>> unwanted;
        guard.lock();
        try {
            closed = true;
            pending = takeCampaigns(CompletableFuture.failedFuture(closed()));
            unwanted = takeAcquisition();
        } finally {
            guard.unlock();
        }
        cancel(unwanted);
        complete(pending);
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

    /** What campaignAsync returns. Whoever is too late to decide how it ends completes it with what was decided. */
    private final class Campaign extends CompletableFuture<Long> {

        /** Set with the guard held by who takes this out of the campaigns. Nothing of the user's hangs on it. */
        private volatile CompletableFuture<Long> outcome = this;

        Campaign() {
            // In case it is completed in a way that is not overridden here: completeAsync, say.
            whenComplete((epoch, failure) -> decide(this));
        }

        @Override
        public boolean complete(Long epoch) {
            return end(CompletableFuture.completedFuture(epoch));
        }

        @Override
        public boolean completeExceptionally(Throwable failure) {
            return end(CompletableFuture.failedFuture(failure));
        }

        @Override
        public boolean cancel(boolean mayInterruptIfRunning) {
            end(CompletableFuture.failedFuture(new CancellationException()));
            return isCancelled();
        }

        private boolean end(CompletableFuture<Long> wanted) {
            boolean decided = decide(wanted);
            deliver();
            return decided;
        }

        /** The user does not want it any more, or its time is over. The last one takes the acquisition along. */
        private boolean decide(CompletableFuture<Long> wanted) {
            boolean decided;
            Optional<CompletableFuture<Lease>> unwanted;
            guard.lock();
            try {
                decided = campaigns.remove(this);
                outcome = decided ? wanted : outcome;
                unwanted = decided && campaigns.isEmpty() ? takeAcquisition() : Optional.empty();
            } finally {
                guard.unlock();
            }
            ElectionHandle.cancel(unwanted);
            return decided;
        }

        private void deliver() {
            outcome.whenComplete((epoch, failure) -> {
                if (failure != null) {
                    super.completeExceptionally(failure);
                } else {
                    super.complete(epoch);
                }
            });
        }
    }
}
