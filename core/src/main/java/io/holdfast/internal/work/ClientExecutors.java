package io.holdfast.internal.work;

import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Makes the client's own executors: virtual threads where the JDK has them, else a few daemon threads. */
public final class ClientExecutors {

    /** Callbacks of losses that block in their own way: so many of them keep nobody else from hearing of a loss. */
    private static final int LOSS_THREADS = 64;

    private static final int THREADS = Math.max(4, 2 * Runtime.getRuntime().availableProcessors());
    private static final long IDLE_SECONDS = 30;

    private ClientExecutors() {}

    /** For steps that may block for a request, but never for a lock. */
    public static ExecutorService forTasks(String threadName) {
        try {
            return virtual(threadName);
        } catch (ReflectiveOperationException before21) {
            ThreadPoolExecutor pool = new ThreadPoolExecutor(
                    THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), daemons(threadName));
            pool.allowCoreThreadTimeOut(true);
            return pool;
        }
    }

    /**
     * For user code. A pool that makes up for threads that wait in {@code CompletableFuture.join} or for one of our locks (see
     * SyncDriver), since user code may well do so in a continuation or a callback. It has a limit: who would wait beyond it gets
     * a {@code RejectedExecutionException}.
     */
    public static ExecutorService forCallbacks(String threadName) {
        return forCallbacks(threadName, THREADS);
    }

    /** For callbacks of losses, which must reach everybody: more threads, made when they are needed. */
    static ExecutorService forLossCallbacks(String threadName) {
        return forCallbacks(threadName, LOSS_THREADS);
    }

    private static ExecutorService forCallbacks(String threadName, int threads) {
        try {
            return virtual(threadName);
        } catch (ReflectiveOperationException before21) {
            AtomicInteger number = new AtomicInteger();
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            return new ForkJoinPool(
                    threads,
                    pool -> {
                        ForkJoinWorkerThread thread = new CallbackThread(pool);
                        thread.setName(threadName + "-" + number.incrementAndGet());
                        // Else it is the system's, which does not find the classes of an application server or a fat
                        // jar.
                        thread.setContextClassLoader(loader);
                        return thread;
                    },
                    null,
                    true);
        }
    }

    /** Whether the calling thread runs users' callbacks, and another makes up for it if it waits in {@code managedBlock}. */
    public static boolean isOnCallbackThread() {
        return Thread.currentThread() instanceof CallbackThread;
    }

    /** Tells our pools from the user's. */
    private static final class CallbackThread extends ForkJoinWorkerThread {
        CallbackThread(ForkJoinPool pool) {
            super(pool);
        }
    }

    static ThreadFactory daemons(String name) {
        AtomicInteger number = new AtomicInteger();
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        return task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setContextClassLoader(loader);
            thread.setDaemon(true);
            return thread;
        };
    }

    /** {@code Thread.ofVirtual().name(name + "-", 1).factory()} and its executor, which Java 17 cannot name. */
    private static ExecutorService virtual(String name) throws ReflectiveOperationException {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            Class<?> builderType = Class.forName("java.lang.Thread$Builder");
            builderType.getMethod("name", String.class, long.class).invoke(builder, name + "-", 1L);
            Object factory = builderType.getMethod("factory").invoke(builder);
            return (ExecutorService) Executors.class
                    .getMethod("newThreadPerTaskExecutor", ThreadFactory.class)
                    .invoke(null, factory);
        } catch (InvocationTargetException e) {
            throw new ReflectiveOperationException(e);
        }
    }
}
