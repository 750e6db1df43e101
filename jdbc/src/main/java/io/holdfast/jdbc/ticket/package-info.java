/**
 * What becomes of tickets after their first request: looks at locks that are waited for, renewals in batches, withdrawals, and
 * listings. What it learns it reports to the tickets. Takes no decision that a row has not taken.
 */
@NullMarked
package io.holdfast.jdbc.ticket;

import org.jspecify.annotations.NullMarked;
