package io.holdfast.redis;

import io.holdfast.spi.Deadline;
import java.util.List;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/** Which server serves a lock, now. Thread-safe. */
interface Topology extends AutoCloseable {

    /** @throws redis.clients.jedis.exceptions.JedisException if nobody could tell by the deadline */
    Node nodeOf(int slot, Deadline deadline);

    /** Which of several servers served that slot when last looked: no I/O. */
    String lane(int slot);

    /** The server of a lane as {@link #lane} names it. */
    Node nodeOfLane(String lane, Deadline deadline);

    /** Whether one script may touch locks of several slots. */
    boolean spansSlots();

    /** All servers that take writes. */
    List<Node> primaries(Deadline deadline);

    /** A request to this server failed, or was answered by one that is no longer, or not yet, a primary. */
    void suspect(Node node);

    /** Whether servers replace each other, so that a failed request may find another one if it tries again. */
    boolean failsOver();

    /** Follows a redirection: for MOVED and all to come, for ASK this once. */
    default Node redirected(JedisRedirectionException redirection) {
        throw redirection;
    }

    @Override
    void close();
}
