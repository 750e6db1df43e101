package io.holdfast.cli.run;

import io.holdfast.cli.console.Failure;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import sun.misc.Signal;

/**
 * Hears the signals sent to this process. While there is no command yet, a signal ends the wait for the lock; afterwards
 * it goes to the command. Thread-safe.
 */
final class SignalRelay {

    private static final List<String> FORWARDED = List.of("TERM", "INT", "HUP", "USR1", "USR2");

    private static final long IMPATIENCE_NANOS = Duration.ofSeconds(1).toNanos();

    private final Thread waiting;
    private final AtomicReference<State> state = new AtomicReference<>(new Waiting());

    private SignalRelay(Thread waiting) {
        this.waiting = waiting;
    }

    /** Interrupts the given thread on a signal until a command runs. */
    static SignalRelay install(Thread waiting) {
        SignalRelay relay = new SignalRelay(waiting);
        for (String name : FORWARDED) {
            try {
                Signal.handle(new Signal(name), relay::receive);
            } catch (IllegalArgumentException usedByTheVirtualMachine) {
                // Then it cannot be forwarded.
            }
        }
        return relay;
    }

    boolean wasSignalled() {
        return state.get() instanceof Signalled;
    }

    /** What a shell reports for a process that the signal ended. */
    int exitCode() {
        return state.get() instanceof Signalled signalled
                ? 128 + signalled.signal.getNumber()
                : Failure.INTERNAL.exitCode;
    }

    /** From now on signals go to the command; one that came meanwhile is passed on. */
    void relayTo(RunningCommand command) {
        State before = state.getAndSet(new Relaying(command, Set.of()));
        // The interrupt was for the wait, which is over.
        Thread.interrupted();
        if (before instanceof Signalled signalled) {
            receive(signalled.signal);
        }
    }

    /** Whether the command's exit code says that a signal it got from here ended it. */
    boolean ended(int exitCode) {
        return state.get() instanceof Relaying relaying && relaying.sent.contains(exitCode - 128);
    }

    private void receive(Signal signal) {
        State before = state.getAndUpdate(now -> now instanceof Relaying relaying
                ? relaying.with(signal)
                : new Signalled(signal, now instanceof Signalled first ? first.atNanos : System.nanoTime()));
        if (before instanceof Relaying relaying) {
            relaying.command.signal(signal.getName(), signal.getNumber());
        } else if (before instanceof Waiting) {
            waiting.interrupt();
        } else if (before instanceof Signalled first && System.nanoTime() - first.atNanos > IMPATIENCE_NANOS) {
            // Asked again: the store hangs, and nothing runs yet that would need care. Not at once, for timeout(1)
            // sends
            // its signal twice, and a waiter that halts leaves its place in the queue behind.
            Runtime.getRuntime().halt(128 + signal.getNumber());
        }
    }

    private sealed interface State {}

    private record Waiting() implements State {}

    private record Signalled(Signal signal, long atNanos) implements State {}

    /** With the numbers of all signals: the command may take its time over the first while others arrive. */
    private record Relaying(RunningCommand command, Set<Integer> sent) implements State {

        Relaying with(Signal signal) {
            Set<Integer> all = new HashSet<>(sent);
            all.add(signal.getNumber());
            return new Relaying(command, all);
        }
    }
}
