/**
 * The channels on which servers tell this client what happened to its tickets: one per server, subscribed when first needed and
 * again whenever a connection breaks. Messages may be lost, so whoever listens is told of every new subscription. Internal to the
 * store.
 */
@NullMarked
package io.holdfast.redis.channel;

import org.jspecify.annotations.NullMarked;
