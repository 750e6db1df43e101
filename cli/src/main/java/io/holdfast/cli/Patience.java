package io.holdfast.cli;

import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * How long a person is willing to wait, for the lock and for a store that is not there: one deadline over everything.
 */
final class Patience {

    private static final Duration PAUSE = Duration.ofMillis(200);

    private final @Nullable Duration wait;
    private final long startNanos = System.nanoTime();
    private final Output output;
    private boolean saidSo;

    /** @param wait null to wait for a lock for ever; then a store that is not there is not waited for at all */
    Patience(@Nullable Duration wait, Output output) {
        this.wait = wait;
        this.output = output;
    }

    /** Empty means for ever. */
    Optional<Duration> left() {
        if (wait == null) {
            return Optional.empty();
        }
        Duration left = wait.minusNanos(System.nanoTime() - startNanos);
        return Optional.of(left.isNegative() ? Duration.ZERO : left);
    }

    /** Takes a step that leaves nothing behind when it fails, again and again while the store cannot be reached. */
    <T> T with(Step<T> step) throws InterruptedException {
        while (true) {
            try {
                return step.take();
            } catch (StoreUnavailableException | UnknownOutcomeException e) {
                if (left().orElse(Duration.ZERO).compareTo(PAUSE) <= 0) {
                    throw e;
                }
                if (!saidSo) {
                    saidSo = true;
                    output.warn(Failures.sentence(Failures.reason(e)) + " Trying again until the wait is over.");
                }
                TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
            }
        }
    }

    interface Step<T> {
        T take() throws InterruptedException;
    }
}
