package io.holdfast.internal.work;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A few background threads per server, some to renew and one to clean up. Apart, so that undoing a request at a server that
 * hangs never keeps a renewal waiting; per server, so that a dead one delays only its own locks. Thread-safe.
 */
public final class ServerThreads {

    private static final long IDLE_SECONDS = 30;

    /** A batch that hangs until its timeout must not cost a lease with a short ttl that becomes due behind it. */
    private static final int RENEWAL_THREADS = 3;

    private final String threadPrefix;
    private final ConcurrentHashMap<String, Pair> servers = new ConcurrentHashMap<>();

    public ServerThreads(String threadPrefix) {
        this.threadPrefix = threadPrefix;
    }

    public Executor renewals(String server) {
        return pair(server).renewals;
    }

    public Executor cleanup(String server) {
        return pair(server).cleanup;
    }

    /** Ends the threads after what they are at. */
    public void stop() {
        servers.values().forEach(pair -> {
            pair.renewals.shutdownNow();
            pair.cleanup.shutdownNow();
        });
    }

    private Pair pair(String server) {
        Pair known = servers.get(server);
        return known != null ? known : servers.computeIfAbsent(server, this::open);
    }

    private Pair open(String server) {
        String suffix = suffix(server);
        return new Pair(worker("renew" + suffix, RENEWAL_THREADS), worker("cleanup" + suffix, 1));
    }

    /** Of the names of threads for that server. */
    static String suffix(String server) {
        return server.isEmpty() ? "" : "-" + server;
    }

    private ThreadPoolExecutor worker(String role, int threads) {
        ThreadPoolExecutor worker = new ThreadPoolExecutor(
                threads,
                threads,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                ClientExecutors.daemons(threadPrefix + role),
                new ThreadPoolExecutor.DiscardPolicy());
        worker.allowCoreThreadTimeOut(true);
        return worker;
    }

    private record Pair(ThreadPoolExecutor renewals, ThreadPoolExecutor cleanup) {}
}
