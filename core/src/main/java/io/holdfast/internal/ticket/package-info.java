/**
 * Tickets in the care of the engine: making them, renewing them, cleaning up after them, and all requests to the store.
 * Enters the rooms of telemetry and work.
 * Start at {@link io.holdfast.internal.ticket.KeptTicket}.
 */
@NullMarked
package io.holdfast.internal.ticket;

import org.jspecify.annotations.NullMarked;
