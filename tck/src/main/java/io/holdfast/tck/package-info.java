/**
 * The conformance kit: what every store must keep, as JUnit tests. A store's test class extends
 * {@link io.holdfast.tck.LockStoreContract}.
 */
@NullMarked
package io.holdfast.tck;

import org.jspecify.annotations.NullMarked;
