/** What stands between an engine and a real store, where requests and reports can be counted, lost, delayed and changed. */
@NullMarked
package io.holdfast.tck.tap;

import org.jspecify.annotations.NullMarked;
