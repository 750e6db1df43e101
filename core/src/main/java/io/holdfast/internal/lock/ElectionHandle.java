package io.holdfast.internal.lock;

import io.holdfast.Election;
import io.holdfast.Lease;
import io.holdfast.LeaseWork;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.Loss;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.work.Callbacks;
import io.holdfast.spi.StoreContext.Alarm;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
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
 * last one was cancelled at that very moment, is given back as if it had never been: nobody was elected, and nobody is told.
 *
 * What is told: a leadership is told once somebody has won it, and then its end is told once, if it was not ended by hand.
 * Callbacks run one after the other, so that nobody hears of the end before the beginning.
 */

/** An election of this client: a lock whose lease is the leadership. Thread-safe. */
public final class ElectionHandle implements Election {

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
        Alarm alarm = acquisitions
                .timer()
                .at(acquisitions.after(maxWait).atNanos(), () -> campaign.complete(TIMED_OUT));
        try {
            long epoch = await(campaign);
            return epoch == TIMED_OUT ? OptionalLong.empty() : OptionalLong.of(epoch);
        } finally {
            alarm.cancel();
        }
    }

    /** Asks once and does not queue. */
    private OptionalLong campaignOnce() {
        OptionalLong leading = epoch();
        if (leading.isPresent()) {
            return leading;
        }
        Optional<Lease> lease = lock.tryAcquire();
        if (lease.isEmpty()) {
            return OptionalLong.empty();
        }
        guard.lock();
        try {
            if (state == State.CLOSED) {
                throw closed();
            }
            state = State.LEADING;
            leadership = lease.get();
        } finally {
            guard.unlock();
            if (!isLeadership(lease.get())) {
                lease.get().release();
            }
        }
        tellElected(lease.get());
        return OptionalLong.of(lease.get().token());
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
        guard.lock();
        try {
            if (state == State.CLOSED) {
                campaign.completeExceptionally(closed());
                return campaign;
            }
            OptionalLong leading = epoch();
            if (leading.isPresent()) {
                campaign.complete(leading.getAsLong());
                return campaign;
            }
            campaigns.add(campaign);
            if (state != State.CAMPAIGNING) {
                state = State.CAMPAIGNING;
                leadership = null;
                CompletableFuture<Lease> asked = lock.acquireAsync();
                acquisition = asked;
                asked.whenComplete((lease, failure) -> settle(asked, lease, failure));
            }
        } finally {
            guard.unlock();
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
                unwanted = acquisition;
                acquisition = null;
            }
        } finally {
            guard.unlock();
        }
        if (unwanted != null) {
            unwanted.cancel(true);
        }
    }

    private void settle(CompletableFuture<Lease> asked, @Nullable Lease lease, @Nullable Throwable failure) {
        List<CompletableFuture<Long>> won = new ArrayList<>();
        guard.lock();
        try {
            if (acquisition == asked) {
                acquisition = null;
                won.addAll(campaigns);
                campaigns.clear();
                state = State.FOLLOWING;
            }
            // With the guard held, so that nobody is told of a leadership before it is one, or after it was closed.
            if (lease != null && won.stream().anyMatch(campaign -> !campaign.isDone())) {
                state = State.LEADING;
                leadership = lease;
            }
        } finally {
            guard.unlock();
        }
        if (failure != null) {
            won.forEach(campaign -> campaign.completeExceptionally(failure));
        } else if (lease != null) {
            long winners = won.stream()
                    .filter(campaign -> campaign.complete(lease.token()))
                    .count();
            if (winners > 0) {
                tellElected(lease);
            } else if (isLeadership(lease)) {
                abdicateUntold(lease);
            } else {
                lease.releaseAsync();
            }
        }
    }

    /** Nobody won it in the end, unless somebody has asked meanwhile and been told that this election leads. */
    private void abdicateUntold(Lease lease) {
        guard.lock();
        try {
            if (leadership == lease) {
                leadership = null;
                state = state == State.LEADING ? State.FOLLOWING : state;
            }
        } finally {
            guard.unlock();
        }
        lease.releaseAsync();
    }

    private boolean isLeadership(Lease lease) {
        guard.lock();
        try {
            return leadership == lease;
        } finally {
            guard.unlock();
        }
    }

    private void tellElected(Lease lease) {
        Told told = new Told();
        callbacks.tell(() -> {
            if (lease.isValid() && isLeadership(lease)) {
                told.elected = true;
                electedCallbacks.forEach(callback -> callback.accept(lease.token()));
            }
        });
        // Weakly: an election that was dropped while it leads must be noticed as a lease that was never closed.
        WeakReference<ElectionHandle> self = new WeakReference<>(this);
        lease.onLost(loss -> {
            ElectionHandle election = self.get();
            if (election != null) {
                election.deposed(lease, loss, told);
            }
        });
    }

    private void deposed(Lease lease, Loss loss, Told told) {
        guard.lock();
        try {
            if (leadership == lease) {
                leadership = null;
                state = state == State.LEADING ? State.FOLLOWING : state;
            }
        } finally {
            guard.unlock();
        }
        callbacks.tell(() -> {
            if (told.elected) {
                deposedCallbacks.forEach(callback -> callback.accept(loss));
            }
        });
    }

    /** Whether a leadership was told; used by the callbacks, one after the other. */
    private static final class Told {
        private boolean elected;
    }

    @Override
    public <X extends Exception> void lead(LeaseWork<? super Lease, X> work) throws InterruptedException, X {
        while (true) {
            campaign();
            Optional<Lease> lease = leadership();
            if (lease.isPresent() && new Term(lease.get()).serve(work)) {
                resign();
                return;
            }
        }
    }

    @Override
    public void close() {
        List<CompletableFuture<Long>> pending;
        CompletableFuture<Lease> unwanted;
        guard.lock();
        try {
            state = State.CLOSED;
            pending = new ArrayList<>(campaigns);
            campaigns.clear();
            unwanted = acquisition;
            acquisition = null;
        } finally {
            guard.unlock();
        }
        pending.forEach(campaign -> campaign.completeExceptionally(closed()));
        if (unwanted != null) {
            unwanted.cancel(true);
        }
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
        guard.lock();
        try {
            return Optional.ofNullable(leadership).filter(Lease::isValid);
        } finally {
            guard.unlock();
        }
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
        Lease lease;
        guard.lock();
        try {
            lease = leadership;
            leadership = null;
            state = state == State.LEADING ? State.FOLLOWING : state;
        } finally {
            guard.unlock();
        }
        if (lease != null) {
            lease.release();
        }
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

    /** One stretch of work as leader on the calling thread, which is interrupted if the leadership is lost. Used once. */
    private static final class Term {

        private enum Stage {
            WORKING,
            INTERRUPTED,
            DONE
        }

        private final Lease lease;
        private final Thread worker = Thread.currentThread();
        private final ReentrantLock guard = new ReentrantLock();
        private Stage stage = Stage.WORKING; // guarded by guard

        Term(Lease lease) {
            this.lease = lease;
        }

        /** False if the leadership was lost meanwhile. */
        <X extends Exception> boolean serve(LeaseWork<? super Lease, X> work) throws X {
            lease.onLost(loss -> interrupt());
            Exception failure = null;
            try {
                work.run(lease);
            } catch (Exception e) {
                failure = e;
            } finally {
                if (finish() == Stage.INTERRUPTED) {
                    // Ours, and it has done its work.
                    Thread.interrupted();
                }
            }
            boolean lost = !lease.isValid();
            if (failure != null && !lost) {
                lease.release();
                throw ElectionHandle.<X>unchecked(failure);
            }
            return !lost;
        }

        private void interrupt() {
            guard.lock();
            try {
                if (stage == Stage.WORKING) {
                    stage = Stage.INTERRUPTED;
                    worker.interrupt();
                }
            } finally {
                guard.unlock();
            }
        }

        private Stage finish() {
            guard.lock();
            try {
                Stage before = stage;
                stage = Stage.DONE;
                return before;
            } finally {
                guard.unlock();
            }
        }
    }

    /** The work throws X or a RuntimeException, which the compiler cannot know of a caught Exception. */
    @SuppressWarnings("unchecked")
    private static <X extends Exception> X unchecked(Exception failure) {
        if (failure instanceof RuntimeException runtime) {
            throw runtime;
        }
        return (X) failure;
    }
}
