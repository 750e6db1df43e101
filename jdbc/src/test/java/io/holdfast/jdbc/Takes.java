package io.holdfast.jdbc;

import java.time.Duration;

/**
 * Scenes that a busy machine may spoil though the product is right, and that are therefore played again, with new names. Only for
 * what a right product mostly shows and a wrong one never.
 */
final class Takes {

    private static final int MOST = 10;

    private Takes() {}

    /** Fails as the last take did if none succeeds. */
    static void bestOf(int most, Scene scene) throws Exception {
        for (int take = 1; take < most; take++) {
            try {
                scene.play();
                return;
            } catch (AssertionError spoilt) {
                // The next one counts.
            }
        }
        scene.play();
    }

    /** For what lasts a limited time only: if it fails before that has passed, it fails for good. */
    static void within(Duration limit, TimedScene scene) throws Exception {
        Watch watch = new Watch();
        for (int take = 1; ; take++) {
            try {
                watch.start();
                scene.play(watch);
                return;
            } catch (AssertionError e) {
                if (take == MOST || watch.elapsed().compareTo(limit) < 0) {
                    throw e;
                }
            }
        }
    }

    /** Tells how long a scene has gone on. */
    static final class Watch {

        private long startNanos;

        /** Counts from here. */
        void start() {
            startNanos = System.nanoTime();
        }

        private Duration elapsed() {
            return Duration.ofNanos(System.nanoTime() - startNanos);
        }
    }

    interface Scene {
        void play() throws Exception;
    }

    interface TimedScene {
        void play(Watch watch) throws Exception;
    }
}
