/** Faults: which there are, when they come, and how they are done to workers, networks and servers. */
@NullMarked
package io.holdfast.torture.nemesis;

import org.jspecify.annotations.NullMarked;
