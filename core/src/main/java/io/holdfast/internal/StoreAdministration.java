package io.holdfast.internal;

import io.holdfast.LockAdministration;
import io.holdfast.UnsupportedLockException;
import io.holdfast.spi.AdministeredStore;
import io.holdfast.spi.LockNames;
import java.time.Duration;

/** Administration through one client. Thread-safe. */
final class StoreAdministration implements LockAdministration {

    private final Client client;

    StoreAdministration(Client client) {
        this.client = client;
    }

    @Override
    public int forceRelease(String name) {
        return administered(LockNames.require(name)).forceRelease(name, client.requestDeadline());
    }

    @Override
    public int prune(Duration idleFor) {
        return administered("*").prune(idleFor, client.requestDeadline());
    }

    private AdministeredStore administered(String name) {
        client.requireOpen(name);
        if (client.store() instanceof AdministeredStore store) {
            return store;
        }
        throw new UnsupportedLockException(
                name, "the " + client.store().traits().store() + " store cannot be administered");
    }
}
