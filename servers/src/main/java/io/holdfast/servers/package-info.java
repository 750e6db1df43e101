/**
 * Real servers on loopback, to be killed, paused and restarted.
 *
 * <p>Start at {@link io.holdfast.servers.RedisServer}, {@link io.holdfast.servers.EtcdServer}, {@link
 * io.holdfast.servers.ZooKeeperServer}, {@link io.holdfast.servers.MariaDbServer} or {@link
 * io.holdfast.servers.PostgresServer}; put an {@code io.holdfast.proxy.TcpProxy} in front of one to disturb its network.
 */
@NullMarked
package io.holdfast.servers;

import org.jspecify.annotations.NullMarked;
