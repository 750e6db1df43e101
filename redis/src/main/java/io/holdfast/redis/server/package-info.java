/**
 * The Redis servers behind a store: who of them serves a lock, and the connections to each. Knows nothing of locks but the slot
 * of their keys. Internal to the store.
 */
@NullMarked
package io.holdfast.redis.server;

import org.jspecify.annotations.NullMarked;
