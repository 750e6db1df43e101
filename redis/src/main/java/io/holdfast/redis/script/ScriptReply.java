package io.holdfast.redis.script;

import java.util.List;

/**
 * What a script replied. Immutable.
 *
 * @param value as Jedis reads it
 * @param baseNanos just before the request was sent
 * @param repeated whether an earlier try may have been carried out as well
 * @param replicas how many replicas have what this connection wrote; 0 if not asked
 */
public record ScriptReply(Object value, long baseNanos, boolean repeated, long replicas) {

    public TicketAnswer ticket() {
        return TicketAnswer.of(value);
    }

    /** Of a script for several tickets. */
    public TicketAnswer ticket(int index) {
        return TicketAnswer.of(((List<?>) value).get(index));
    }

    /** Of a script that ends a holder or a ticket: whether there was one. */
    public boolean found() {
        return (number() & 1) == 1;
    }

    /** Whether there was more to do than one script may. */
    public boolean again() {
        return (number() & 2) == 2;
    }

    /** With which the reply begins. */
    public long number() {
        return (Long) parts().get(0);
    }

    /** All of a list, or the one part of what is none. */
    public List<?> parts() {
        return value instanceof List<?> several ? several : List.of(value);
    }
}
