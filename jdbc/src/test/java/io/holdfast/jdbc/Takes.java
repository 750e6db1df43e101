package io.holdfast.jdbc;

/**
 * Scenes that a busy machine may spoil though the product is right, and that are therefore played again, with new names. Only for
 * what a right product mostly shows and a wrong one never.
 */
final class Takes {

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

    interface Scene {
        void play() throws Exception;
    }
}
