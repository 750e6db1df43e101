package io.holdfast.torture.mutant;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/** What a lock guards: remembers its last write and, unless flawed, the largest token it has seen. Thread-safe. */
final class Resource {

    private final Flaw flaw;
    private final ReentrantLock mutex = new ReentrantLock();
    private long seenToken;
    private String last = "";

    Resource(Flaw flaw) {
        this.flaw = flaw;
    }

    /** Nothing if the token is too small. */
    Optional<String> read(long token) {
        mutex.lock();
        try {
            boolean admitted = flaw == Flaw.FIRST_READ_UNCHECKED || admits(token);
            return admitted ? Optional.of(last) : Optional.empty();
        } finally {
            mutex.unlock();
        }
    }

    /** Whether it was done. */
    boolean write(long token, String value) {
        mutex.lock();
        try {
            boolean admitted = admits(token);
            last = admitted ? value : last;
            return admitted;
        } finally {
            mutex.unlock();
        }
    }

    String last() {
        mutex.lock();
        try {
            return last;
        } finally {
            mutex.unlock();
        }
    }

    private boolean admits(long token) {
        if (flaw == Flaw.WRITES_UNCHECKED) {
            return true;
        }
        if (token < seenToken) {
            return false;
        }
        seenToken = token;
        return true;
    }
}
