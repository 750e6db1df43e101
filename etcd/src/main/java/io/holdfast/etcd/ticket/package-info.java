/**
 * Lets tickets into queues, finds out when they are admitted, and takes them out. The protocol is told in
 * {@link io.holdfast.etcd.ticket.Tickets}. What it learns it reports to the tickets.
 */
@NullMarked
package io.holdfast.etcd.ticket;

import org.jspecify.annotations.NullMarked;
