package io.holdfast.cli.run;

import io.holdfast.StoreUnavailableException;
import io.holdfast.UnknownOutcomeException;
import io.holdfast.cli.console.FailureText;
import io.holdfast.cli.console.Output;
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
    private final Output output;
    private long startNanos = System.nanoTime();
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
                    output.warn(FailureText.sentence(FailureText.reason(e)) + " Trying again until the wait is over.");
                }
                TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
            }
        }
    }

    /** The same for the first contact with the store. What the attempt takes that succeeds is not taken from the wait for the lock. */
    void connecting(Runnable attempt) throws InterruptedException {
        with(() -> {
            long attemptNanos = System.nanoTime();
            attempt.run();
            startNanos += System.nanoTime() - attemptNanos;
            return true;
        });
    }

    interface Step<T> {
        T take() throws InterruptedException;
    }
}
