package io.holdfast.redis.server;

import io.holdfast.spi.Deadline;
import java.util.List;
import redis.clients.jedis.exceptions.JedisRedirectionException;

/** Which server serves a lock, now. As it stands, one serves all of them. Thread-safe. */
public interface Topology extends AutoCloseable {

    /** @throws redis.clients.jedis.exceptions.JedisException if nobody could tell by the deadline */
    Node nodeOf(int slot, Deadline deadline);

    /** Which of several servers served that slot when last looked: no I/O. Empty if there is one, or none is known. */
    default String serverOf(int slot) {
        return "";
    }

    /** The server of that name, as {@link #serverOf} gives it. */
    default Node node(String server, Deadline deadline) {
        return nodeOf(0, deadline);
    }

    /** Whether that server serves anything, as far as is known: no I/O. */
    default boolean isServing(String server) {
        return true;
    }

    /** Whether one script may touch locks of several slots. */
    default boolean spansSlots() {
        return true;
    }

    /** All servers that take writes. */
    default List<Node> primaries(Deadline deadline) {
        return List.of(nodeOf(0, deadline));
    }

    /** A request to this server failed, or was answered by one that is no longer, or not yet, a primary. */
    void suspect(Node node);

    /** Whether servers replace each other, so that a failed request may find another one if it tries again. */
    boolean failsOver();

    /** Follows a redirection: for MOVED and all to come, for ASK this once. */
    default Node follow(JedisRedirectionException redirection) {
        throw redirection;
    }

    @Override
    void close();
}
