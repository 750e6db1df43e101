package io.holdfast.internal.lock;

import io.holdfast.Lease;
import io.holdfast.Loss;
import io.holdfast.MultiLease;
import io.holdfast.ReleaseResult;
import io.holdfast.internal.lease.HeldLease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/** Leases held together. Thread-safe. */
final class HeldMultiLease implements MultiLease {

    private final List<HeldLease> leases;

    HeldMultiLease(List<HeldLease> leases) {
        this.leases = List.copyOf(leases);
    }

    /** To be called when it is given to the user. */
    HeldMultiLease delivered() {
        leases.forEach(HeldLease::delivered);
        return this;
    }

    /** Of leases that no user has seen: none of them has a shortest hold. */
    static void releaseUndelivered(List<HeldLease> leases) {
        fromEach(leases, lease -> lease.life().releaseUndelivered());
    }

    /** As {@link #releaseUndelivered}, from a thread that must not wait for the store: a canceller's, say. */
    static void releaseUndeliveredInBackground(List<HeldLease> leases) {
        fromEach(leases, lease -> {
            lease.life().releaseUndeliveredInBackground();
            return lease;
        });
    }

    /**
     * Each has its turn, the last taken first, whatever another throws: one that were left out would be renewed until the client
     * closes. In the end the first failure is thrown, with the others suppressed.
     */
    private static <T> List<T> fromEach(List<HeldLease> leases, Function<HeldLease, T> work) {
        List<T> results = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (HeldLease lease : lastFirst(leases)) {
            try {
                results.add(work.apply(lease));
            } catch (Throwable e) {
                failures.add(e);
            }
        }
        if (!failures.isEmpty()) {
            Throwable first = failures.get(0);
            failures.stream().filter(other -> other != first).forEach(first::addSuppressed);
            throw Rethrown.<RuntimeException>as(first);
        }
        return results;
    }

    private static List<HeldLease> lastFirst(List<HeldLease> leases) {
        List<HeldLease> reversed = new ArrayList<>(leases);
        Collections.reverse(reversed);
        return reversed;
    }

    @Override
    public List<Lease> leases() {
        return List.copyOf(leases);
    }

    @Override
    public long token(String name) {
        return leases.stream()
                .filter(lease -> lease.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("lock '" + name + "' is not among " + this))
                .token();
    }

    @Override
    public boolean isValid() {
        return leases.stream().allMatch(Lease::isValid);
    }

    @Override
    public void requireValid() {
        // Those that are lost first: one that was merely released says nothing about why the others are not valid.
        leases.stream().filter(lease -> lease.life().isLost()).forEach(Lease::requireValid);
        leases.forEach(Lease::requireValid);
    }

    @Override
    public Duration remaining() {
        return leases.stream()
                .map(Lease::remaining)
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    @Override
    public void onLost(Consumer<Loss> callback) {
        Consumer<Loss> first = firstOnly(callback);
        leases.forEach(lease -> lease.onLost(first));
    }

    @Override
    public void onLost(Consumer<Loss> callback, Executor executor) {
        Consumer<Loss> first = firstOnly(callback);
        leases.forEach(lease -> lease.onLost(first, executor));
    }

    private static Consumer<Loss> firstOnly(Consumer<Loss> callback) {
        Objects.requireNonNull(callback, "callback");
        AtomicBoolean told = new AtomicBoolean();
        return loss -> {
            if (told.compareAndSet(false, true)) {
                callback.accept(loss);
            }
        };
    }

    @Override
    public Duration extend(Duration atLeast) {
        leases.forEach(lease -> lease.extend(atLeast));
        return remaining();
    }

    /** All at once: the caller does not wait, so the order does not matter. */
    @Override
    public CompletableFuture<ReleaseResult> releaseAsync() {
        List<CompletableFuture<ReleaseResult>> all = fromEach(leases, Lease::releaseAsync);
        return CompletableFuture.allOf(all.toArray(CompletableFuture<?>[]::new))
                .thenApply(done -> worst(all.stream().map(CompletableFuture::join)));
    }

    private static ReleaseResult worst(Stream<ReleaseResult> results) {
        return results.max(Comparator.comparing(HeldMultiLease::badness)).orElse(ReleaseResult.RELEASED);
    }

    private static int badness(ReleaseResult result) {
        return switch (result) {
            case RELEASED -> 0;
            case PENDING -> 1;
            case ALREADY_LOST -> 2;
        };
    }

    /** Last taken, first released; the result is the worst of them. */
    @Override
    public ReleaseResult release() {
        return worst(fromEach(leases, Lease::release).stream());
    }

    @Override
    public String toString() {
        return "MultiLease" + leases;
    }
}
