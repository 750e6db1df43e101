package io.holdfast.internal.acquire;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Who wants a lease: a thread that parks until it has one, or a future. Immutable.
 *
 * @param thread the waiting thread, or null for a future
 * @param threadName the thread that asked, for people
 * @param waker lets the future go on, or null for a thread
 */
record Caller(
        @Nullable Thread thread,
        String threadName,
        @Nullable Runnable waker) {

    static Caller thisThread() {
        Thread thread = Thread.currentThread();
        return new Caller(thread, nameOf(thread), null);
    }

    static Caller future(Runnable waker) {
        return new Caller(null, nameOf(Thread.currentThread()), waker);
    }

    /** Returns at once. */
    void wake() {
        if (waker != null) {
            waker.run();
        } else {
            LockSupport.unpark(thread);
        }
    }

    /** Virtual threads have no name unless they are given one. */
    private static String nameOf(Thread thread) {
        String name = thread.getName();
        return name.isEmpty() ? "#" + thread.getId() : name;
    }
}
