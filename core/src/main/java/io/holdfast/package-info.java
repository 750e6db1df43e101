/** Named locks held through expiring leases. Start at Holdfast. */
@NullMarked
package io.holdfast;

import org.jspecify.annotations.NullMarked;
