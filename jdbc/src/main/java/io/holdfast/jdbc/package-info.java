/** Locks in MySQL, MariaDB and PostgreSQL. Start at {@link io.holdfast.jdbc.JdbcStore}. */
@NullMarked
package io.holdfast.jdbc;

import org.jspecify.annotations.NullMarked;
