/** The {@code holdfast} command: locks for the shell. Start at {@link io.holdfast.cli.Main}. */
@NullMarked
package io.holdfast.cli;

import org.jspecify.annotations.NullMarked;
