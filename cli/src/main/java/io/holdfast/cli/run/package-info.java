/**
 * {@code holdfast run}: waits for a lock and runs somebody's command while it is held. {@link io.holdfast.cli.run.HeldRun} holds lock and
 * command together; {@link io.holdfast.cli.run.Guard} sees to it that the command does not outlive a killed holdfast.
 */
@NullMarked
package io.holdfast.cli.run;

import org.jspecify.annotations.NullMarked;
