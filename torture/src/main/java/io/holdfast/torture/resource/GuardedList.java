package io.holdfast.torture.resource;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A list that clients read, lengthen by one and write back whole, so that whoever writes on the ground of an old read wipes
 * out what others have written since. One that checks tokens refuses whoever comes with a smaller one than it has seen, on
 * the first read as on every write. Thread-safe.
 *
 * <p>Every write has an id and names the id of the write it builds on; so the id of the last write stands for the whole
 * list, and nothing else is kept.
 */
final class GuardedList {

    /** Whether tokens are looked at. */
    enum Check {
        TOKENS,
        NOTHING
    }

    /** The list before the first write. */
    static final String EMPTY = "";

    private final Check check;
    private final ReentrantLock lock = new ReentrantLock();
    private String last = EMPTY;
    private long highestExclusive = Long.MIN_VALUE;
    private long highestShared = Long.MIN_VALUE;

    GuardedList(Check check) {
        this.check = check;
    }

    /** The last write, or nothing if the token is stale. Readers are not fenced against each other. */
    Optional<String> read(long token, boolean shared) {
        lock.lock();
        try {
            return admits(token, shared) ? Optional.of(last) : Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    /** Writes, and returns the id, or nothing if the token is stale. */
    Optional<String> write(long token, String id) {
        lock.lock();
        try {
            if (!admits(token, false)) {
                return Optional.empty();
            }
            last = id;
            return Optional.of(id);
        } finally {
            lock.unlock();
        }
    }

    String last() {
        lock.lock();
        try {
            return last;
        } finally {
            lock.unlock();
        }
    }

    private boolean admits(long token, boolean shared) {
        if (check == Check.NOTHING) {
            return true;
        }
        if (token < highestExclusive || !shared && token < highestShared) {
            return false;
        }
        if (shared) {
            highestShared = Math.max(highestShared, token);
        } else {
            highestExclusive = token;
        }
        return true;
    }
}
