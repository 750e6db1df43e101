package io.holdfast.jdbc;

import org.junit.jupiter.api.DisplayName;

@DisplayName("Locks in PostgreSQL")
class PostgresConformanceTest extends DatabaseConformance {
    PostgresConformanceTest() {
        super(Database.POSTGRESQL);
    }
}
