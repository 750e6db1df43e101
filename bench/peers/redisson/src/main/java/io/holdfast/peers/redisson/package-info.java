/** A contender of the bench. */
@NullMarked
package io.holdfast.peers.redisson;

import org.jspecify.annotations.NullMarked;
