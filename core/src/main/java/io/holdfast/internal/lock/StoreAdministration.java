package io.holdfast.internal.lock;

import io.holdfast.LockAdministration;
import io.holdfast.UnsupportedLockException;
import io.holdfast.internal.ticket.StoreRequests;
import io.holdfast.internal.work.Lifecycle;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.LockNames;
import java.time.Duration;

/** Administration through one client. Thread-safe. */
public final class StoreAdministration implements LockAdministration {

    private final StoreRequests requests;
    private final Lifecycle lifecycle;

    public StoreAdministration(StoreRequests requests, Lifecycle lifecycle) {
        this.requests = requests;
        this.lifecycle = lifecycle;
    }

    @Override
    public int forceRelease(String name) {
        return administered(LockNames.require(name)).forceRelease(name, requests.deadline());
    }

    @Override
    public int prune(Duration idleFor) {
        return administered("*").prune(idleFor, requests.deadlineOfWalk());
    }

    private AdministeredStore administered(String name) {
        lifecycle.requireOpen(name);
        if (requests.store() instanceof AdministeredStore store) {
            return store;
        }
        throw new UnsupportedLockException(
                name, "the " + requests.store().traits().store() + " store cannot be administered");
    }
}
