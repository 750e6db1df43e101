package io.holdfast.jdbc;

import io.holdfast.spi.StoreFactory;
import io.holdfast.spi.StoreUri;
import io.holdfast.tck.LockStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.DisplayName;

@DisplayName("Locks in H2, in the same process")
class H2ConformanceTest extends LockStoreContract {

    @Override
    public StoreFactory store() {
        return new JdbcStores().store(StoreUri.parse(Database.H2.storeUrl()));
    }

    @Override
    public Duration shortTtl() {
        return Duration.ofMillis(600);
    }

    @Override
    public boolean pushesGrants() {
        return false;
    }
}
