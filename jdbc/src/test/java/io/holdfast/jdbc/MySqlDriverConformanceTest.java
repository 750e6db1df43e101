package io.holdfast.jdbc;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

@DisplayName("Locks in MariaDB through MySQL's driver")
@Tag("full")
class MySqlDriverConformanceTest extends DatabaseConformance {
    MySqlDriverConformanceTest() {
        super(Database.MARIADB_WITH_MYSQL_DRIVER);
    }
}
