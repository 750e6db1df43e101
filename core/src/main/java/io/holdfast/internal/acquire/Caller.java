package io.holdfast.internal.acquire;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Who wants a lease: a thread that parks until it has one, or a future. Immutable.
 *
 * @param thread the waiting thread, or null for a future
 * @param threadName the thread that asked, for people
 * @param waker lets it go on
 */
record Caller(@Nullable Thread thread, String threadName, Runnable waker) {

    static Caller thisThread() {
        Thread thread = Thread.currentThread();
        return new Caller(thread, thread.getName(), () -> LockSupport.unpark(thread));
    }

    static Caller future(Runnable waker) {
        return new Caller(null, Thread.currentThread().getName(), waker);
    }

    boolean isThread() {
        return thread != null;
    }

    /** Returns at once. */
    void wake() {
        waker.run();
    }

    boolean isSameThread(@Nullable Caller other) {
        return thread != null && other != null && thread == other.thread;
    }
}
