/** Locks in etcd. Start at EtcdStores. */
@NullMarked
package io.holdfast.etcd;

import org.jspecify.annotations.NullMarked;
