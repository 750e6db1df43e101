/**
 * The transitions of a lock, each one Lua script, and how a script is called: sent to the server of a lock, sent again where that
 * is safe, and told apart by what a failure means. The scripts themselves are resources of this package. Internal to the store.
 */
@NullMarked
package io.holdfast.redis.script;

import org.jspecify.annotations.NullMarked;
