package io.holdfast.servers.process;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Asks again and again until there is an answer. */
public final class Patience {

    public static final Duration LONG = Duration.ofSeconds(60);

    private static final long POLL_NANOS = 20_000_000;

    private Patience() {}

    /** Waits until a condition holds. */
    public static void awaitTrue(String what, BooleanSupplier condition) {
        await(what, () -> condition.getAsBoolean() ? Optional.of(true) : Optional.empty());
    }

    /** Returns the first answer; throws with the given words if there is none in time or the thread is interrupted. */
    public static <T> T await(String what, Supplier<Optional<T>> question) {
        long deadlineNanos = System.nanoTime() + LONG.toNanos();
        while (true) {
            Optional<T> answer = question.get();
            if (answer.isPresent()) {
                return answer.get();
            }
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new IllegalStateException("Waited " + LONG.toSeconds() + " s in vain: " + what);
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("Interrupted while waiting: " + what);
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }
}
