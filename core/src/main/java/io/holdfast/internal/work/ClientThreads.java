package io.holdfast.internal.work;

import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;

/**
 * All threads of one client, by what runs on them. Kept apart so that what blocks on one kind never delays another: requests
 * that hang, users' code that blocks, the news of a loss, and a store's own work, which keeps locks alive. Thread-safe.
 */
public final class ClientThreads {

    private final ClientTimer timer;
    private final ServerThreads servers;
    private final ExecutorService tasks;
    private final ExecutorService callbacks;
    private final ExecutorService lossCallbacks;
    private final ExecutorService storeBackground;
    private final TimeSource time;

    public ClientThreads(String clientName, TimeSource time) {
        String prefix = "holdfast-" + clientName + "-";
        this.time = time;
        this.tasks = ClientExecutors.forTasks(prefix + "task");
        this.callbacks = ClientExecutors.forCallbacks(prefix + "callback");
        this.lossCallbacks = ClientExecutors.forLossCallbacks(prefix + "loss");
        this.storeBackground = ClientExecutors.forTasks(prefix + "store");
        this.servers = new ServerThreads(prefix);
        this.timer = new ClientTimer(time, prefix + "timer");
    }

    /** Watches deadlines; does no I/O. */
    public ClientTimer timer() {
        return timer;
    }

    /** Renewals and clean-up. */
    public ServerThreads servers() {
        return servers;
    }

    /** Steps of asynchronous acquisitions. */
    public Executor tasks() {
        return reliable(tasks);
    }

    /** Continuations of futures and listeners. */
    public Executor callbacks() {
        return reliable(callbacks);
    }

    /** Callbacks of losses. */
    public Executor lossCallbacks() {
        return reliable(lossCallbacks);
    }

    /** The store's own work. */
    public Executor storeBackground() {
        return reliable(storeBackground);
    }

    /** Ends them after what they are at; the timer first, so that it hands nothing to those that have ended. */
    public void stop() {
        timer.stop();
        List.of(tasks, callbacks, lossCallbacks, storeBackground).forEach(ExecutorService::shutdown);
        servers.stop();
    }

    private Executor reliable(ExecutorService own) {
        return new ReliableExecutor(own, timer, time);
    }
}
