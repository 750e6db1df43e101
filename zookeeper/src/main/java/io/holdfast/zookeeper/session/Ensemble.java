package io.holdfast.zookeeper.session;

import java.time.Duration;

/**
 * The servers, and how to reach them.
 *
 * @param name for people, without credentials
 * @param connector where clients of them come from
 * @param tick the servers' {@code tickTime}, or more
 * @param emptyPath a path at which nothing is ever stored: what asks for a sign of life asks there
 */
public record Ensemble(String name, Connector connector, Duration tick, String emptyPath) {}
