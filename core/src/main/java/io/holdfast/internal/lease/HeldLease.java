package io.holdfast.internal.lease;

import io.holdfast.Lease;
import io.holdfast.Loss;
import io.holdfast.ReleaseResult;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The lease in the user's hands. Nothing in the engine refers to it strongly, so that a forgotten one is noticed. */
public final class HeldLease implements Lease {

    private final LeaseLife life;

    HeldLease(LeaseLife life) {
        this.life = life;
    }

    public LeaseLife life() {
        return life;
    }

    /** To be called when it is given to the user. */
    public HeldLease delivered() {
        life.delivered();
        return this;
    }

    @Override
    public String name() {
        return life.name();
    }

    @Override
    public long token() {
        return life.token();
    }

    @Override
    public long storeToken() {
        return life.storeToken();
    }

    @Override
    public boolean isValid() {
        return life.isValid();
    }

    @Override
    public void requireValid() {
        life.requireValid();
    }

    @Override
    public Duration remaining() {
        return life.remaining();
    }

    @Override
    public Duration extend(Duration atLeast) {
        if (atLeast.isNegative() || atLeast.isZero()) {
            throw new IllegalArgumentException("a lease is extended by a positive time, not " + atLeast);
        }
        return life.extend(atLeast);
    }

    @Override
    public void onLost(Consumer<Loss> callback) {
        life.onLost(Objects.requireNonNull(callback, "callback"));
    }

    @Override
    public void onLost(Consumer<Loss> callback, Executor executor) {
        life.onLost(Objects.requireNonNull(callback, "callback"), Objects.requireNonNull(executor, "executor"));
    }

    @Override
    public CompletableFuture<ReleaseResult> releaseAsync() {
        return life.releaseAsync();
    }

    @Override
    public ReleaseResult release() {
        return life.release();
    }

    @Override
    public String toString() {
        return "Lease[" + name() + ", token " + token() + ", " + life.state() + "]";
    }
}
