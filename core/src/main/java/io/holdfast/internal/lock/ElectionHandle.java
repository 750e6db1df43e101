package io.holdfast.internal.lock;

import io.holdfast.Election;
import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.LockView;
import io.holdfast.Loss;
import io.holdfast.internal.acquire.Acquisitions;
import io.holdfast.internal.acquire.AsyncDriver;
import io.holdfast.internal.acquire.Patience;
import io.holdfast.internal.work.Callbacks;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** An election of this client: a lock whose lease is the leadership. Thread-safe. */
public final class ElectionHandle implements Election {

    private final Acquisitions acquisitions;
    private final Callbacks callbacks;
    private final LockHandle lock;
    private final AtomicReference<@Nullable Lease> leadership = new AtomicReference<>();
    private final Set<CompletableFuture<Long>> campaigns = ConcurrentHashMap.newKeySet();
    private final List<LongConsumer> electedCallbacks = new CopyOnWriteArrayList<>();
    private final List<Consumer<Loss>> deposedCallbacks = new CopyOnWriteArrayList<>();

    public ElectionHandle(Acquisitions acquisitions, Callbacks callbacks, LockHandle lock) {
        this.acquisitions = acquisitions;
        this.callbacks = callbacks;
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
        OptionalLong leading = epoch();
        return leading.isPresent() ? leading.getAsLong() : elected(lock.acquire());
    }

    @Override
    public OptionalLong campaign(Duration maxWait) throws InterruptedException {
        OptionalLong leading = epoch();
        if (leading.isPresent()) {
            return leading;
        }
        Optional<Lease> lease = lock.tryAcquire(maxWait);
        return lease.isPresent() ? OptionalLong.of(elected(lease.get())) : OptionalLong.empty();
    }

    @Override
    public CompletableFuture<Long> campaignAsync() {
        OptionalLong leading = epoch();
        if (leading.isPresent()) {
            return CompletableFuture.completedFuture(leading.getAsLong());
        }
        CompletableFuture<Long> campaign = AsyncDriver.acquire(
                acquisitions,
                lock.terms(),
                Patience.ENDLESS,
                acquisitions.never(),
                lease -> elected(Objects.requireNonNull(lease).delivered()));
        campaigns.add(campaign);
        campaign.whenComplete((epoch, failure) -> campaigns.remove(campaign));
        return campaign;
    }

    @Override
    public void close() {
        campaigns.forEach(campaign -> campaign.cancel(true));
        resign();
    }

    @Override
    public boolean isLeader() {
        return epoch().isPresent();
    }

    @Override
    public OptionalLong epoch() {
        Lease lease = leadership.get();
        return lease != null && lease.isValid() ? OptionalLong.of(lease.token()) : OptionalLong.empty();
    }

    @Override
    public LockView inspect() {
        return lock.inspect();
    }

    @Override
    public void resign() {
        Lease lease = leadership.getAndSet(null);
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

    private long elected(Lease lease) {
        leadership.set(lease);
        electedCallbacks.forEach(callback -> callbacks.tell(epoch -> tellIfLeading(lease, callback), lease.token()));
        lease.onLost(loss -> {
            leadership.compareAndSet(lease, null);
            deposedCallbacks.forEach(callback -> callbacks.tellLoss(callback, loss));
        });
        return lease.token();
    }

    /** News of a loss comes another way, and may have come first: nobody hears afterwards that he leads. */
    private static void tellIfLeading(Lease lease, LongConsumer callback) {
        if (lease.isValid()) {
            callback.accept(lease.token());
        }
    }

    @Override
    public String toString() {
        return "Election[" + name() + "]";
    }
}
