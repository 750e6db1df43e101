/** Locks in etcd. Start at {@link io.holdfast.etcd.EtcdStores}. */
@NullMarked
package io.holdfast.etcd;

import org.jspecify.annotations.NullMarked;
