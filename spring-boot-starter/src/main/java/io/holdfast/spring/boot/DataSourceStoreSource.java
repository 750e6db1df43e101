package io.holdfast.spring.boot;

import io.holdfast.HoldfastBuilder;
import io.holdfast.jdbc.JdbcStore;
import io.holdfast.jdbc.JdbcStores;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;

/** The application's only, or primary, {@code DataSource}. */
final class DataSourceStoreSource implements StoreSource {

    private final ObjectProvider<DataSource> databases;

    DataSourceStoreSource(ObjectProvider<DataSource> databases) {
        this.databases = databases;
    }

    @Override
    public boolean set(HoldfastBuilder builder, ClientProperties properties) {
        DataSource database = databases.getIfUnique();
        if (database == null) {
            return false;
        }
        JdbcStore store = JdbcStores.using(database);
        builder.store(properties.getJdbc().isInitializeSchema() ? store.withSchemaCreated() : store);
        return true;
    }
}
