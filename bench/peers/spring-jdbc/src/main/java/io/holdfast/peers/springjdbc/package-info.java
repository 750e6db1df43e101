/** A contender of the bench. */
@NullMarked
package io.holdfast.peers.springjdbc;

import org.jspecify.annotations.NullMarked;
