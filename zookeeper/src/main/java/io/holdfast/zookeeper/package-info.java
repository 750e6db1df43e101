/** Locks in ZooKeeper. Start at {@link io.holdfast.zookeeper.ZooKeeperStores}. */
@NullMarked
package io.holdfast.zookeeper;

import org.jspecify.annotations.NullMarked;
