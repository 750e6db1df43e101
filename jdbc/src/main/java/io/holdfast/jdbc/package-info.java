/** Locks in MySQL, MariaDB, PostgreSQL and H2, and recipes for data in the same database. Start at {@link io.holdfast.jdbc.JdbcStores}. */
@NullMarked
package io.holdfast.jdbc;

import org.jspecify.annotations.NullMarked;
