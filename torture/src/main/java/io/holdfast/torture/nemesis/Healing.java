package io.holdfast.torture.nemesis;

/**
 * Ends a fault.
 *
 * @param target whom it was done to, for people
 * @param end what ends it
 */
public record Healing(String target, Action end) {

    /** A step that may fail. */
    @FunctionalInterface
    public interface Action {
        void run() throws Exception;
    }

    public static Healing of(String target, Action end) {
        return new Healing(target, end);
    }

    /** Of a fault that is over at once. */
    public static Healing done(String target) {
        return new Healing(target, () -> {});
    }
}
