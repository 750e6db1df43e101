package io.holdfast;

/**
 * A number of permits, each held through a lease that expires if its holder dies.
 *
 * <p>Thread-safe. As an {@link Acquirable} it hands out one permit at a time. Clients that name different totals share
 * the permits of the smallest total in line.
 */
public interface DistributedSemaphore extends Acquirable<Lease> {

    String name();

    LockOptions options();

    /** How many permits there are in all. */
    int total();

    /** Takes {@code count} permits at once, all or none. */
    Acquirable<Lease> permits(int count);

    LockView inspect();
}
