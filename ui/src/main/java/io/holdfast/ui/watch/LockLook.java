package io.holdfast.ui.watch;

import io.holdfast.Holdfast;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Looks at one lock. */
public final class LockLook extends Look {

    private final String name;
    private volatile @Nullable Seen latest;

    LockLook(String name, Duration interval, long nowNanos) {
        super(interval, nowNanos);
        this.name = name;
    }

    /** As last seen; empty before the store has answered. Thread-safe. */
    public Optional<Seen> latest() {
        return Optional.ofNullable(latest);
    }

    @Override
    int step(Holdfast holdfast) {
        Instant asked = Instant.now();
        latest = new Seen(holdfast.lock(name).inspect(), asked);
        return 1;
    }

    @Override
    boolean isAtItsEnd() {
        return true;
    }

    @Override
    void startAgain() {}
}
