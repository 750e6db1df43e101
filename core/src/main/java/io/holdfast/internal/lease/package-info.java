/**
 * What users hold: the life of a lease from its grant to its release or loss, local handoff, and the watch for leases
 * nobody closed. Enters the rooms of tickets, telemetry and work.
 * Start at {@link io.holdfast.internal.lease.LeaseLife}.
 */
@NullMarked
package io.holdfast.internal.lease;

import org.jspecify.annotations.NullMarked;
