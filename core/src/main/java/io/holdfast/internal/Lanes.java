package io.holdfast.internal;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Two background threads per server: one renews, one runs errands. Apart, so that undoing a request at a server that
 * hangs never keeps a renewal waiting; per server, so that a dead one delays only its own locks. Thread-safe.
 */
final class Lanes {

    private static final long IDLE_SECONDS = 30;

    private final String threadPrefix;
    private final ConcurrentHashMap<String, Lane> lanes = new ConcurrentHashMap<>();

    Lanes(String threadPrefix) {
        this.threadPrefix = threadPrefix;
    }

    Executor renewals(String lane) {
        return lane(lane).renewals;
    }

    Executor errands(String lane) {
        return lane(lane).errands;
    }

    /** Ends the threads after what they are at. */
    void stop() {
        lanes.values().forEach(lane -> {
            lane.renewals.shutdownNow();
            lane.errands.shutdownNow();
        });
    }

    private Lane lane(String name) {
        Lane known = lanes.get(name);
        return known != null ? known : lanes.computeIfAbsent(name, this::open);
    }

    private Lane open(String name) {
        String suffix = name.isEmpty() ? "" : "-" + name;
        return new Lane(worker("renew" + suffix), worker("errands" + suffix));
    }

    private ThreadPoolExecutor worker(String role) {
        ThreadPoolExecutor worker = new ThreadPoolExecutor(
                1,
                1,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                Executors.daemons(threadPrefix + role),
                new ThreadPoolExecutor.DiscardPolicy());
        worker.allowCoreThreadTimeOut(true);
        return worker;
    }

    private record Lane(ThreadPoolExecutor renewals, ThreadPoolExecutor errands) {}
}
