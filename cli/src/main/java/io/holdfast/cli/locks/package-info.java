/** The commands for people who look at locks, and take away or remove what is stuck: a class each, the dashboard included. */
@NullMarked
package io.holdfast.cli.locks;

import org.jspecify.annotations.NullMarked;
