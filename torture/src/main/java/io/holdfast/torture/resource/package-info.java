/** What the locks of a run protect: lists that check fencing tokens, and lists that do not. */
@NullMarked
package io.holdfast.torture.resource;

import org.jspecify.annotations.NullMarked;
