/** Processes that servers run as: found, started, stopped, killed with all their children, and none left behind by a JVM that died. */
@NullMarked
package io.holdfast.servers.process;

import org.jspecify.annotations.NullMarked;
