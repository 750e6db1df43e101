/**
 * How a lock's queue lies in etcd: which keys, what their values say, and the words transactions on them are made of. Other
 * programs read and write the same keys. Sends nothing.
 */
@NullMarked
package io.holdfast.etcd.layout;

import org.jspecify.annotations.NullMarked;
