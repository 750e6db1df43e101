/**
 * What this client's tickets have at the servers: their nodes, in which session, and what becomes of them. The protocol is told
 * in {@link io.holdfast.zookeeper.ticket.TicketNode}. What it learns it reports to the tickets.
 */
@NullMarked
package io.holdfast.zookeeper.ticket;

import org.jspecify.annotations.NullMarked;
