package io.holdfast.bench.compare.spot;

import java.util.Arrays;

/** How long something takes. */
final class Timed {

    private Timed() {}

    /** Something to be timed. */
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }

    /** Microseconds, the median of so many times. */
    static double median(int times, Action action) throws Exception {
        long[] nanos = new long[times];
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            action.run();
            nanos[i] = System.nanoTime() - start;
        }
        Arrays.sort(nanos);
        return nanos[times / 2] / 1e3;
    }
}
