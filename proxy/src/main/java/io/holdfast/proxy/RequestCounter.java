package io.holdfast.proxy;

import java.nio.ByteBuffer;

/**
 * Counts the messages in the traffic of one connection: requests one way, replies the other.
 *
 * <p>A proxy makes one per connection and calls it from one thread, so it may keep state and need not be thread-safe. Bytes
 * come in the order they were sent each way, cut at any place.
 */
public interface RequestCounter {

    /** Returns how many messages are complete (or, where that cannot be told, have begun) with these bytes. */
    int count(Direction direction, ByteBuffer bytes);

    /**
     * Knows no protocol: counts runs of bytes in one direction that no byte the other way interrupts.
     *
     * <p>Right for clients that send a request and wait for its reply; pipelined requests count as one.
     */
    static RequestCounter bursts() {
        return new BurstCounter();
    }

    /** Counts the commands and replies of the Redis protocol (RESP2 and RESP3), pipelined ones and pushes too. */
    static RequestCounter resp() {
        return new RespCounter();
    }
}
