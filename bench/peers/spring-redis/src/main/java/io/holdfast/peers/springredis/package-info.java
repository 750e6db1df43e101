/** A contender of the bench. */
@NullMarked
package io.holdfast.peers.springredis;

import org.jspecify.annotations.NullMarked;
