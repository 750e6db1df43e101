package io.holdfast.jdbc;

import io.holdfast.spi.StoreFactory;
import io.holdfast.tck.CoreStoreContract;
import io.holdfast.tck.Faults;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.TestInstance;

/** The heart of the kit on another driver; all of it runs in the full mode. */
@DisplayName("Locks in MariaDB through MySQL's driver, in short")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MySqlDriverCoreTest extends CoreStoreContract {

    private final ProxiedDatabase database = new ProxiedDatabase(Database.MARIADB_WITH_MYSQL_DRIVER);

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
    public Optional<List<String>> leftovers(String name) {
        return database.leftovers(name);
    }
}
