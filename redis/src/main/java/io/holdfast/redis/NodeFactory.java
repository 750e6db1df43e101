package io.holdfast.redis;

import redis.clients.jedis.HostAndPort;

/** Makes the node of a server once its address is known. */
@FunctionalInterface
interface NodeFactory {

    Node at(HostAndPort server);
}
