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
        return ((Long) value & 1) == 1;
    }

    /** Whether there was more to do than one script may. */
    public boolean again() {
        return ((Long) value & 2) == 2;
    }

    public long number() {
        return (Long) value;
    }
}
