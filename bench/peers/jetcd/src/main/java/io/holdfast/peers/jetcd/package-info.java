/** A contender of the bench. */
@NullMarked
package io.holdfast.peers.jetcd;

import org.jspecify.annotations.NullMarked;
