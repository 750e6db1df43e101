/** Locks in Redis and Valkey. Start at {@link io.holdfast.redis.RedisStores}. */
@NullMarked
package io.holdfast.redis;

import org.jspecify.annotations.NullMarked;
