/**
 * How locks and the tickets queued for them are laid out in ZooKeeper's tree: names, data, order. It is shared with Curator and
 * others, so it is a format and not ours to change. Nothing here asks a server.
 */
@NullMarked
package io.holdfast.zookeeper.tree;

import org.jspecify.annotations.NullMarked;
