package io.holdfast.spi;

import io.holdfast.Demand;
import io.holdfast.LockView.Origin;
import java.time.Duration;

/**
 * What one acquisition asks of a store. Immutable.
 *
 * @param name the lock, already validated
 * @param owner this acquisition and no other
 * @param demand how it is to be held
 * @param ttl how long the store keeps it without hearing from us
 * @param origin where it comes from, for people
 */
public record Request(String name, OwnerId owner, Demand demand, Duration ttl, Origin origin) {}
