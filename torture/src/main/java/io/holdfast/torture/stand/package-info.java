/** What a run is made on: a store, and what can be done to it. Those on servers of our own are in {@code torture-local}. */
@NullMarked
package io.holdfast.torture.stand;

import org.jspecify.annotations.NullMarked;
