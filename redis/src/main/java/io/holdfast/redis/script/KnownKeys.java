package io.holdfast.redis.script;

import io.holdfast.spi.Ticket;
import java.util.concurrent.ConcurrentHashMap;

/** The keys of locks, made once for each lock that is used again and again. Thread-safe. */
public final class KnownKeys {

    /** So many locks are remembered at most; then all keys are made once more. */
    private static final int MOST_REMEMBERED = 1_000;

    private final String prefix;
    private final ConcurrentHashMap<String, LockKeys> byName = new ConcurrentHashMap<>();

    /** @param prefix of all keys */
    public KnownKeys(String prefix) {
        this.prefix = prefix;
    }

    public LockKeys of(Ticket ticket) {
        return of(ticket.name());
    }

    public LockKeys of(String name) {
        LockKeys known = byName.get(name);
        if (known != null) {
            return known;
        }
        if (byName.size() >= MOST_REMEMBERED) {
            byName.clear();
        }
        LockKeys made = LockKeys.of(prefix, name);
        byName.put(name, made);
        return made;
    }
}
