/**
 * How a lock lies in its tables, and each change of it as one statement. What excludes stands in the row being updated: the essay is in
 * {@link io.holdfast.jdbc.row.LockSql}. {@link io.holdfast.jdbc.row.Requests} runs these statements and says in the API's words
 * what went wrong.
 */
@NullMarked
package io.holdfast.jdbc.row;

import org.jspecify.annotations.NullMarked;
