/** A contender of the bench. */
@NullMarked
package io.holdfast.peers.shedlock;

import org.jspecify.annotations.NullMarked;
