package io.holdfast.jdbc;

import org.junit.jupiter.api.DisplayName;

@DisplayName("Locks in MariaDB")
class MariaDbConformanceTest extends DatabaseConformance {
    MariaDbConformanceTest() {
        super(Database.MARIADB);
    }
}
