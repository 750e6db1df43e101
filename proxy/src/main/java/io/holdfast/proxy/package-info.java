/**
 * A TCP proxy on loopback that disturbs the network between a client and a server. Start at {@link io.holdfast.proxy.TcpProxy}.
 *
 * <p>{@link io.holdfast.proxy.ReservedPort} and {@link io.holdfast.proxy.Uninterruptibly} are public for those who launch servers
 * beside it: a port has to be reserved for all of them alike.
 */
@NullMarked
package io.holdfast.proxy;

import org.jspecify.annotations.NullMarked;
