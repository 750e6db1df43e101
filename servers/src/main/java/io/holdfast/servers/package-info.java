/**
 * Real servers on loopback, with every fault a test needs: kill, pause, restart, and a TCP proxy that delays, cuts and drops.
 *
 * <p>Start at {@link io.holdfast.servers.RedisServer}, {@link io.holdfast.servers.EtcdServer}, {@link
 * io.holdfast.servers.ZooKeeperServer}, {@link io.holdfast.servers.MariaDbServer} or {@link
 * io.holdfast.servers.PostgresServer}; put a {@link io.holdfast.servers.TcpProxy} in front of one to disturb its network.
 */
@NullMarked
package io.holdfast.servers;

import org.jspecify.annotations.NullMarked;
