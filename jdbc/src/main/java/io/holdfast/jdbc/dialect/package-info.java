/**
 * What differs between MySQL, MariaDB, PostgreSQL and H2: words of SQL, values to bind, and what an error means. Knows neither locks
 * nor connections. The recipes build on it too.
 */
@NullMarked
package io.holdfast.jdbc.dialect;

import org.jspecify.annotations.NullMarked;
