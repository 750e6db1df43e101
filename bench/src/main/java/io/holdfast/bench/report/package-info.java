/** What the bench found, for people: a table, a page with plots. */
@NullMarked
package io.holdfast.bench.report;

import org.jspecify.annotations.NullMarked;
