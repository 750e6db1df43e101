package io.holdfast.torture.nemesis;

import java.time.Duration;

/**
 * One fault of a schedule.
 *
 * @param at when it begins, from the start of the run
 * @param length until it is healed
 * @param fault what it is
 * @param choice a number that decides everything else about it: who is hit, how hard
 */
public record PlannedFault(Duration at, Duration length, Fault fault, int choice) {

    public Duration end() {
        return at.plus(length);
    }

    /** One of {@code count}, always the same for the same {@code purpose}. */
    public int pick(String purpose, int count) {
        return Math.floorMod(mixed(purpose), count);
    }

    /** A number from 0 to 1, always the same for the same {@code purpose}. */
    public double fraction(String purpose) {
        return Math.floorMod(mixed(purpose), 10_001) / 10_000.0;
    }

    private int mixed(String purpose) {
        int mixed = (choice ^ purpose.hashCode()) * 0x9E3779B9;
        mixed = (mixed ^ (mixed >>> 15)) * 0x85EBCA6B;
        return mixed ^ (mixed >>> 13);
    }

    @Override
    public String toString() {
        return String.format(
                "%7.3f s  %-12s for %.3f s, choice %08x", seconds(at), fault.word(), seconds(length), choice);
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1000.0;
    }
}
