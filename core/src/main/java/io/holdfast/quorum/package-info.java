/** One lock over several independent stores, held by a majority of them. Start at {@link io.holdfast.quorum.QuorumStore}. */
@NullMarked
package io.holdfast.quorum;

import org.jspecify.annotations.NullMarked;
