/** Named locks held through expiring leases. Start at {@link io.holdfast.Holdfast}. */
@NullMarked
package io.holdfast;

import org.jspecify.annotations.NullMarked;
