package io.holdfast.examples;

import io.holdfast.DistributedLock;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.time.Duration;

/** Every instance starts the nightly job; one runs it, even if clocks differ and the job is quick. */
public final class JobThatRunsOnce {

    public static void main(String[] args) {
        try (Holdfast holdfast = Examples.connect(args)) {
            boolean ran = runOnce(holdfast, () -> System.out.println("writing the report"));
            System.out.println(ran ? "done" : "another instance has it, or had it within the last minute");
        }
    }

    /** The lock stays taken for a minute even if the job takes a second, so an instance whose clock is behind skips it. */
    static boolean runOnce(Holdfast holdfast, Runnable job) {
        DistributedLock lock = holdfast.lock(
                "nightly-report",
                LockOptions.defaults().withTtl(Duration.ofMinutes(2)).withMinHold(Duration.ofMinutes(1)));
        return lock.tryAcquire()
                .map(lease -> {
                    try (lease) {
                        job.run();
                    }
                    return true;
                })
                .orElse(false);
    }
}
