package io.holdfast.testing;

import io.holdfast.LockEvent.Outcome;
import io.holdfast.Loss;
import io.holdfast.ReleaseResult;
import io.holdfast.spi.LockObserver;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Knows which leases of a client are open, where they were acquired, and who waits. Thread-safe. */
final class OpenLeases implements LockObserver {

    /**
     * A lease that was acquired and, as far as was told, neither released nor lost.
     *
     * @param sentence on it
     */
    record Open(String lock, long token, String sentence) {}

    private final Map<Long, Open> open = new ConcurrentHashMap<>();
    private final Map<Long, Thread> waiting = new ConcurrentHashMap<>();

    @Override
    public void started(Acquisition acquisition) {
        waiting.put(acquisition.id(), Thread.currentThread());
    }

    @Override
    public void acquired(Acquisition acquisition, Way way, long token, Duration waited) {
        waiting.remove(acquisition.id());
        open.put(
                acquisition.id(),
                new Open(
                        acquisition.lock(),
                        token,
                        "Lock '" + acquisition.lock() + "' is still held, acquired by thread "
                                + Thread.currentThread().getName() + placeOfCall()));
    }

    @Override
    public void unsuccessful(Acquisition acquisition, Outcome outcome, Duration waited) {
        waiting.remove(acquisition.id());
    }

    @Override
    public void released(Acquisition acquisition, long token, ReleaseResult result, Duration held) {
        open.remove(acquisition.id());
    }

    @Override
    public void lost(Acquisition acquisition, Loss loss, Duration held) {
        open.remove(acquisition.id());
    }

    List<Open> open() {
        return List.copyOf(open.values());
    }

    /** The threads that began acquisitions which are under way; those of asynchronous ones do not wait themselves. */
    List<Thread> waiting() {
        return List.copyOf(waiting.values());
    }

    /** The innermost call from outside of the library; there is none on the threads of asynchronous acquisitions. */
    private static String placeOfCall() {
        return StackWalker.getInstance()
                .walk(frames -> frames.filter(frame -> !isOurs(frame.getClassName()))
                        .findFirst()
                        .map(frame -> " at " + frame.toStackTraceElement())
                        .orElse(""));
    }

    private static boolean isOurs(String type) {
        return type.startsWith("java.")
                || type.startsWith("jdk.")
                || type.startsWith("io.holdfast.internal.")
                || type.startsWith("io.holdfast.testing.OpenLeases")
                || type.matches("io\\.holdfast\\.[A-Z].*");
    }
}
