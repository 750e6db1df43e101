package io.holdfast.cli.run;

import io.holdfast.Lease;
import io.holdfast.Loss;
import io.holdfast.ReleaseResult;
import io.holdfast.cli.console.FailedException;
import io.holdfast.cli.console.Failure;
import io.holdfast.cli.console.LockText;
import io.holdfast.cli.console.Names;
import io.holdfast.cli.console.Output;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/** Runs a command while a lease is held. */
final class HeldRun {

    private enum Stage {
        RUNNING,
        /** The lease was lost while the command ran, which was told so. */
        LOST,
        /** The command ended by itself: a loss found out later is for people to know. */
        OVER
    }

    private static final Duration LAST_TRY = Duration.ofMillis(500);

    private final Output output;
    private final SignalRelay signals;
    private final List<String> command;
    private final Duration grace;
    private final RenewalReporter renewals;
    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.RUNNING);
    private boolean settled = true;
    private volatile CompletableFuture<Void> lossSaid = CompletableFuture.completedFuture(null);

    HeldRun(Output output, SignalRelay signals, List<String> command, Duration grace, RenewalReporter renewals) {
        this.output = output;
        this.signals = signals;
        this.command = command;
        this.grace = grace;
        this.renewals = renewals;
    }

    /** Returns the exit code of holdfast. The lease is released when this returns. */
    int run(Lease lease, Duration waited) throws IOException {
        long startNanos = System.nanoTime();
        try (lease) {
            if (signals.wasSignalled()) {
                return signals.exitCode();
            }
            int exitCode = runCommand(lease);
            ReleaseResult released = release(lease);
            settled = released != ReleaseResult.PENDING && !renewals.isFailing();
            lossSaid.join();
            boolean lost = stage.get() == Stage.LOST || released == ReleaseResult.ALREADY_LOST;
            if (lost && stage.get() == Stage.OVER) {
                output.fail(
                        Failure.LEASE_LOST,
                        "lock " + Names.inText(lease.name())
                                + " was lost before the command ended, which may have overlapped with"
                                + " another's. Check what it did.",
                        Failure.LEASE_LOST.exitCode);
            }
            if (released == ReleaseResult.PENDING) {
                output.warn("the store did not confirm that lock " + Names.inText(lease.name())
                        + " is free; it will be when its ttl has passed.");
            }
            int result = lost ? Failure.LEASE_LOST.exitCode : exitCode;
            if (output.isJson()) {
                report(lease, waited, Duration.ofNanos(System.nanoTime() - startNanos), lost, exitCode, result);
            }
            return result;
        }
    }

    /** Whether the store answers and has nothing of the lock any more. */
    boolean isSettled() {
        return settled;
    }

    /** A store that has not answered lately is not waited for: the lock ends with its ttl, the command has ended now. */
    private ReleaseResult release(Lease lease) {
        if (!renewals.isFailing()) {
            return lease.release();
        }
        return CompletableFuture.supplyAsync(lease::release)
                .completeOnTimeout(ReleaseResult.PENDING, LAST_TRY.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    private int runCommand(Lease lease) throws IOException {
        try (Guard guard = Guard.start()) {
            requireHeld(lease);
            RunningCommand running = RunningCommand.start(command, lease.name(), lease.token(), guard);
            CompletableFuture<Void> ended = new CompletableFuture<>();
            lease.onLost(lost -> {
                if (!stage.compareAndSet(Stage.RUNNING, Stage.LOST)) {
                    return;
                }
                try {
                    sayBeside(lost);
                    running.terminate(grace);
                } finally {
                    ended.complete(null);
                }
            });
            signals.relayTo(running);
            int exitCode = running.await();
            if (!stage.compareAndSet(Stage.RUNNING, Stage.OVER)) {
                ended.join();
            } else if (signals.ended(exitCode)) {
                // It was told to stop and did; the lock must not be free while its own children still work.
                running.terminate(grace);
            }
            guard.dismiss();
            return exitCode;
        }
    }

    /** The machine may have stood still since the lock was granted, until somebody else got it. */
    private void requireHeld(Lease lease) {
        if (!lease.isValid()) {
            settled = !renewals.isFailing();
            throw new FailedException(
                    Failure.LEASE_LOST,
                    "lock " + Names.inText(lease.name())
                            + " was lost before the command was started, which did not run. Try again.");
        }
    }

    /** On a thread of its own: a stopped terminal, or a pipe nobody reads, must not keep the command running. */
    private void sayBeside(Loss lost) {
        try {
            lossSaid = CompletableFuture.runAsync(() -> output.fail(
                            Failure.LEASE_LOST,
                            "lock " + Names.inText(lost.name()) + " is lost: " + lost.detail()
                                    + ". Ending the command (TERM, then KILL after " + LockText.span(grace) + ").",
                            Failure.LEASE_LOST.exitCode))
                    .exceptionally(unsaid -> null);
        } catch (Error noThread) {
            // Ending the command matters more, and the exit code says it too.
        }
    }

    private void report(Lease lease, Duration waited, Duration held, boolean lost, int commandExitCode, int exitCode) {
        output.reportJson(json -> json.text("name", lease.name())
                .token(lease.token())
                .text("outcome", lost ? Failure.LEASE_LOST.word : "completed")
                .millis("waitedMillis", waited)
                .millis("heldMillis", held)
                .number("commandExitCode", commandExitCode)
                .number("exitCode", exitCode));
    }
}
