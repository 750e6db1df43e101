/** A contender of the bench. */
@NullMarked
package io.holdfast.peers.curator;

import org.jspecify.annotations.NullMarked;
