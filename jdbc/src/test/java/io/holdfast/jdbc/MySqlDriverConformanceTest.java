package io.holdfast.jdbc;

import org.junit.jupiter.api.DisplayName;

@DisplayName("Locks in MariaDB through MySQL's driver")
class MySqlDriverConformanceTest extends DatabaseConformance {
    MySqlDriverConformanceTest() {
        super(Database.MARIADB_WITH_MYSQL_DRIVER);
    }
}
