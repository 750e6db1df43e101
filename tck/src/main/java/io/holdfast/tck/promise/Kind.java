package io.holdfast.tck.promise;

import io.holdfast.Acquirable;
import io.holdfast.Demand;
import io.holdfast.Hold;
import io.holdfast.Holdfast;
import io.holdfast.LockOptions;
import java.util.List;

/** Every kind of lock that is acquired and released; each keeps an exclusive lock of its name out. */
enum Kind {
    LOCK(Demand.exclusive()) {
        @Override
        Acquirable<? extends Hold> of(Holdfast client, String name, LockOptions options) {
            return client.lock(name, options);
        }
    },
    READ(Demand.shared()) {
        @Override
        Acquirable<? extends Hold> of(Holdfast client, String name, LockOptions options) {
            return client.readWriteLock(name, options).readLock();
        }
    },
    WRITE(Demand.shared()) {
        @Override
        Acquirable<? extends Hold> of(Holdfast client, String name, LockOptions options) {
            return client.readWriteLock(name, options).writeLock();
        }
    },
    PERMITS(Demand.permits(2, 3)) {
        @Override
        Acquirable<? extends Hold> of(Holdfast client, String name, LockOptions options) {
            return client.semaphore(name, 3, options).permits(2);
        }
    },
    ALL(Demand.exclusive()) {
        @Override
        Acquirable<? extends Hold> of(Holdfast client, String name, LockOptions options) {
            return client.lockAll(List.of(name, name + "-too"), options);
        }
    };

    private final Demand needs;

    Kind(Demand needs) {
        this.needs = needs;
    }

    /** What a store must support for it. */
    Demand needs() {
        return needs;
    }

    abstract Acquirable<? extends Hold> of(Holdfast client, String name, LockOptions options);
}
