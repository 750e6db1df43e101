/**
 * The way to a lease: the gate where threads of one client queue, the acquisition that asks the store, and the drivers
 * that run it on a thread or as a future. Enters the rooms of leases, tickets, telemetry and work; knows nothing of the kinds of locks.
 * Start at {@link io.holdfast.internal.acquire.Acquisition}.
 */
@NullMarked
package io.holdfast.internal.acquire;

import org.jspecify.annotations.NullMarked;
