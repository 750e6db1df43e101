package io.holdfast.proxy;

import java.util.concurrent.Callable;

/** Waits for short, certain things although the thread is interrupted, and keeps the interrupt for the caller. */
public final class Uninterruptibly {

    private Uninterruptibly() {}

    /** Runs a wait that may be run again after an interrupt. */
    public static <T> T get(Callable<T> waiting) throws Exception {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return waiting.call();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits until a process that has been told to end has done so. */
    public static void awaitEnd(Process process) {
        try {
            get(process::waitFor);
        } catch (Exception e) {
            throw new IllegalStateException("Cannot wait for process " + process.pid(), e);
        }
    }
}
