package io.holdfast.internal.work;

import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;

/**
 * All threads of one client, by what runs on them. Kept apart so that what blocks on one kind never delays another: requests
 * that hang, users' code that blocks, the news of a loss, and a store's own work, which keeps locks alive. Thread-safe.
 */
public final class ClientThreads {

    /** Its tasks are there from the start: they serve whom no other threads could be made for. */
    public static final String NO_SERVER = "";

    private final ClientTimer timer;
    private final ServerThreads servers;
    private final String taskPrefix;
    private final ConcurrentHashMap<String, ExecutorService> tasks = new ConcurrentHashMap<>();
    private final ExecutorService callbacks;
    private final ExecutorService lossCallbacks;
    private final ExecutorService storeBackground;
    private final TimeSource time;
    private volatile boolean stopped;

    public ClientThreads(String clientName, TimeSource time) {
        String prefix = "holdfast-" + clientName + "-";
        this.time = time;
        this.taskPrefix = prefix + "task";
        this.callbacks = ClientExecutors.forCallbacks(prefix + "callback");
        this.lossCallbacks = ClientExecutors.forLossCallbacks(prefix + "loss");
        this.storeBackground = ClientExecutors.forTasks(prefix + "store");
        this.servers = new ServerThreads(prefix);
        this.timer = new ClientTimer(time, prefix + "timer");
        tasks.put(NO_SERVER, openTasks(NO_SERVER));
    }

    /** Watches deadlines; does no I/O. */
    public ClientTimer timer() {
        return timer;
    }

    /** Renewals and clean-up. */
    public ServerThreads servers() {
        return servers;
    }

    /** Steps of asynchronous acquisitions, and releases, at that server: those that hang there delay none at others. */
    public Executor tasks(String server) {
        ExecutorService known = tasks.get(server);
        return reliable(known != null ? known : tasks.computeIfAbsent(server, this::openTasks));
    }

    private ExecutorService openTasks(String server) {
        ExecutorService opened = ClientExecutors.forTasks(taskPrefix + ServerThreads.suffix(server));
        if (stopped) {
            opened.shutdown();
        }
        return opened;
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
        stopped = true;
        timer.stop();
        tasks.values().forEach(ExecutorService::shutdown);
        List.of(callbacks, lossCallbacks, storeBackground).forEach(ExecutorService::shutdown);
        servers.stop();
    }

    private Executor reliable(ExecutorService own) {
        return new ReliableExecutor(own, timer, time);
    }
}
