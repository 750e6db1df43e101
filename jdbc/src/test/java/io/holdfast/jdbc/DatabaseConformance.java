package io.holdfast.jdbc;

import io.holdfast.spi.StoreFactory;
import io.holdfast.tck.Faults;
import io.holdfast.tck.LockStoreContract;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.TestInstance;

/** The whole kit on one database. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DatabaseConformance extends LockStoreContract {

    private final ProxiedDatabase database;

    DatabaseConformance(Database database) {
        this.database = new ProxiedDatabase(database);
    }

    @AfterAll
    void stopProxy() {
        database.close();
    }

    @Override
    public StoreFactory store() {
        return database.store();
    }

    @Override
    public Duration shortTtl() {
        return database.shortTtl();
    }

    @Override
    public Optional<Faults> faults() {
        return database.faults();
    }

    @Override
    public boolean pushesGrants() {
        return database.pushesGrants();
    }

    @Override
    public OptionalLong requestsReceived() {
        return database.requestsReceived();
    }

    @Override
    public Optional<List<String>> leftovers(String name) {
        return database.leftovers(name);
    }
}
