/** Stores on real servers of this machine, and what can be done to those servers. */
@NullMarked
package io.holdfast.torture.local;

import org.jspecify.annotations.NullMarked;
