/** What came of runs, for people and for other programs. */
@NullMarked
package io.holdfast.torture.report;

import org.jspecify.annotations.NullMarked;
