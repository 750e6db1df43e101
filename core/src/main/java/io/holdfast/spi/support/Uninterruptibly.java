package io.holdfast.spi.support;

import io.holdfast.spi.Deadline;
import java.util.concurrent.TimeUnit;

/** Waits by a deadline, whatever interrupts: requests are not interruptible, the engine looks at the flag between them. */
public final class Uninterruptibly {

    /** What may take a while. */
    @FunctionalInterface
    public interface Wait<T> {
        T within(long time, TimeUnit unit) throws InterruptedException;
    }

    private Uninterruptibly() {}

    public static <T> T await(Deadline deadline, Wait<T> wait) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return wait.within(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
