/**
 * What the engine tells of itself: events for listeners, calls to observers, counters, and events of the flight recorder.
 * Enters the room of work only.
 * Start at {@link io.holdfast.internal.telemetry.Telemetry}.
 */
@NullMarked
package io.holdfast.internal.telemetry;

import org.jspecify.annotations.NullMarked;
