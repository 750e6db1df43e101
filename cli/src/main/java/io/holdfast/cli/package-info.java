/**
 * The {@code holdfast} command: locks for the shell. Start at {@link io.holdfast.cli.Main}; {@link io.holdfast.cli.Commands} names the
 * commands, which live in the rooms {@code run}, {@code locks} and {@code trial} and know each other only through {@code console}.
 */
@NullMarked
package io.holdfast.cli;

import org.jspecify.annotations.NullMarked;
