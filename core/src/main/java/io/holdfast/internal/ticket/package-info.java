/**
 * Tickets in the care of the engine: making them, renewing them, cleaning up after them, and the one door to the store.
 * Enters the room of work only.
 * Start at {@link io.holdfast.internal.ticket.KeptTicket}.
 */
@NullMarked
package io.holdfast.internal.ticket;

import org.jspecify.annotations.NullMarked;
