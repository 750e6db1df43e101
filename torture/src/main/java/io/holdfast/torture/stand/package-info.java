/** What a run is made on: a store, the servers behind it as far as we started them, and what can be done to them. */
@NullMarked
package io.holdfast.torture.stand;

import org.jspecify.annotations.NullMarked;
