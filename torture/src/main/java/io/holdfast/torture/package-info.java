/** The engine behind {@code holdfast torture}: see {@link io.holdfast.torture.Campaign}. */
@NullMarked
package io.holdfast.torture;

import org.jspecify.annotations.NullMarked;
