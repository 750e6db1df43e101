package io.holdfast.torture.check;

import io.holdfast.torture.history.Event;
import java.util.List;

/**
 * One breach of a promise.
 *
 * @param promise which
 * @param lock of which lock
 * @param what happened, for people
 * @param operations the events that prove it, in order of time
 */
public record Violation(Promise promise, String lock, String what, List<Event> operations) {}
